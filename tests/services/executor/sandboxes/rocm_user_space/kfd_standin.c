// Stands in for the amdgpu driver where there is none: with LD_PRELOAD, opens of /dev/kfd and of render nodes that exist
// as plain files succeed, and their ioctls answer as the kernel's do, as far as the runtime needs them to list agents and
// to hand out and copy memory. No kernel runs: it is waited for without end, as on a GPU that hangs. The numbers and
// structures are those of linux/kfd_ioctl.h and drm/amdgpu_drm.h.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MOST_FILES = 4096 };
static enum { OTHER, KFD, RENDER } kinds[MOST_FILES];
static uint64_t next_offset = 1 << 20, next_handle = 1;

static int opened(const char *path, int flags, mode_t mode) {
  int kind = !strcmp(path, "/dev/kfd") ? KFD : !strncmp(path, "/dev/dri/renderD", 16) ? RENDER : OTHER;
  int descriptor = syscall(SYS_openat, AT_FDCWD, path, kind ? O_RDONLY | O_CLOEXEC : flags, mode);
  if (descriptor < 0 || !kind || descriptor >= MOST_FILES) return descriptor;
  kinds[descriptor] = kind;
  return descriptor;
}

#define OPEN(name)                                    \
  int name(const char *path, int flags, ...) {        \
    va_list rest;                                     \
    va_start(rest, flags);                            \
    mode_t mode = va_arg(rest, int);                  \
    va_end(rest);                                     \
    return opened(path, flags, mode);                 \
  }
OPEN(open)
OPEN(open64)

// As programs have it that are compiled with _FORTIFY_SOURCE.
int __open_2(const char *path, int flags) {
  return opened(path, flags, 0);
}

int __open64_2(const char *path, int flags) {
  return opened(path, flags, 0);
}

static int kind_of(int descriptor) {
  return descriptor >= 0 && descriptor < MOST_FILES ? kinds[descriptor] : OTHER;
}

int close(int descriptor) {
  if (kind_of(descriptor)) kinds[descriptor] = OTHER;
  return syscall(SYS_close, descriptor);
}

#define FCNTL(name)                                                                            \
  int name(int descriptor, int command, ...) {                                                 \
    va_list rest;                                                                              \
    va_start(rest, command);                                                                   \
    int made = syscall(SYS_fcntl, descriptor, command, va_arg(rest, void *));                   \
    va_end(rest);                                                                              \
    int is_copy = command == F_DUPFD || command == F_DUPFD_CLOEXEC;                            \
    if (is_copy && made >= 0 && made < MOST_FILES) kinds[made] = kind_of(descriptor);          \
    return made;                                                                               \
  }
FCNTL(fcntl)
FCNTL(fcntl64)

static uint64_t property(const char *folder, const char *file, const char *name) {
  char path[300], word[64];
  unsigned long long value = 0, found = 0;
  snprintf(path, sizeof path, "%s/%s", folder, file);
  FILE *opened = fopen(path, "r");
  if (!opened) return 0;
  if (!name)
    found = fscanf(opened, "%llu", &value) == 1 ? value : 0;
  else
    while (fscanf(opened, "%63s %llu", word, &value) == 2)
      if (!strcmp(word, name)) found = value;
  fclose(opened);
  return found;
}

// The kernel tells all GPUs that the process may use; here, all of the topology.
static int apertures(uint64_t *arguments) {
  struct { uint64_t lds, lds_end, scratch, scratch_end, gpuvm, gpuvm_end; uint32_t gpu, pad; } *into = (void *)arguments[0];
  uint32_t room = (uint32_t)arguments[1], found = 0;
  for (int node = 0;; ++node) {
    char folder[200];
    struct stat seen;
    snprintf(folder, sizeof folder, "/sys/devices/virtual/kfd/kfd/topology/nodes/%d", node);
    if (stat(folder, &seen)) break;
    uint32_t gpu = property(folder, "gpu_id", 0);
    if (!gpu) continue;
    if (found < room && into) {
      into[found].lds = 0x1000000000000ull, into[found].lds_end = 0x10000ffffffffull;
      into[found].scratch = 0x2000000000000ull, into[found].scratch_end = 0x20000ffffffffull;
      into[found].gpuvm = 0x4000, into[found].gpuvm_end = 0x7fffffffffffull;
      into[found].gpu = gpu;
    }
    ++found;
  }
  arguments[1] = found;
  return 0;
}

// Of kfd_ioctl.h, kfd_ioctl_create_queue_args.
typedef struct {
  uint64_t ring, write, read, doorbell;
  uint32_t bytes, gpu, kind, percentage, priority, id;
} queue_arguments;

typedef struct {
  queue_arguments is;
  pthread_t thread;
  volatile bool ends;
  // The runtime's own, for what it copies with a kernel.
  bool is_first;
} queue;

enum { MOST_QUEUES = 4096, OF_AQL = 2, DISPATCH = 2, BARRIER_AND = 3, INVALID = 1, PACKET_BYTES = 64 };
static queue *queues[MOST_QUEUES];
static bool had_a_queue;

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return now.tv_sec * 1000000000ull + now.tv_nsec;
}

static void *address(const uint32_t *words) { return (void *)(words[0] | (uint64_t)words[1] << 32); }

// Performs a packet of a copy engine (sdma_registers.h of the runtime); answers its words, or 0 if it waits.
static unsigned copied(const uint32_t *words) {
  switch (words[0] & 0xff) {
    case 0:  // nothing
      return 1 + (words[0] >> 16 & 0x3fff);
    case 1:  // copy
      memcpy(address(words + 5), address(words + 3), (words[1] & 0x3fffffff) + 1ull);
      return 7;
    case 5:  // write a word
      *(volatile uint32_t *)address(words + 1) = words[3];
      return 4;
    case 6:  // interrupt
      return 2;
    case 8:  // wait for a word, or flush the path to the memory
      if (words[2] == 0x80000000) return 6;
      return (*(volatile uint32_t *)address(words + 1) & words[4]) == words[3] ? 6 : 0;
    case 10:  // add
      __atomic_fetch_add((uint64_t *)address(words + 1), words[3] | (uint64_t)words[4] << 32, __ATOMIC_SEQ_CST);
      return 8;
    case 13:  // the time
      *(volatile uint64_t *)address(words + 1) = now_ns();
      return 3;
    case 17:  // flush caches
      return 5;
    default:
      fprintf(stderr, "kfd stand-in: a copy engine was given packet %u\n", words[0] & 0xff);
      abort();
  }
}

// The kernel with which the runtime copies code objects to a device, by its arguments (amd_blit_kernel.h): from, to, and
// after other places where it stops, which are more if both are aligned alike.
static void copied_by_kernel(const uint64_t *arguments) {
  uint64_t from = arguments[0], to = arguments[1], end = (from ^ to) & 3 ? arguments[4] : arguments[8];
  memcpy((void *)to, (void *)from, end - from);
}

// Of amd_hsa_signal.h.
typedef struct {
  int64_t kind, value;
  uint64_t mailbox;
  uint32_t event, pad;
  uint64_t begin_ns, end_ns;
} signal_of_runtime;

// Performs a packet of hsa.h if that is possible now.
static bool done(const uint64_t *packet, bool is_first) {
  unsigned kind = packet[0] & 0xff;
  if (kind == DISPATCH && !is_first) return false;
  if (kind == DISPATCH) copied_by_kernel((const uint64_t *)packet[5]);
  for (int at = 1; at <= 5 && kind == BARRIER_AND; ++at) {
    signal_of_runtime *awaited = (signal_of_runtime *)packet[at];
    if (awaited && __atomic_load_n(&awaited->value, __ATOMIC_ACQUIRE)) return false;
  }
  signal_of_runtime *told = (signal_of_runtime *)packet[7];
  if (!told) return true;
  told->begin_ns = told->end_ns = now_ns();
  __atomic_fetch_sub(&told->value, 1, __ATOMIC_SEQ_CST);
  return true;
}

static bool one_packet(queue *from, volatile uint64_t *read) {
  if (from->is.kind != OF_AQL) {
    unsigned words = copied((const uint32_t *)(from->is.ring + *read % from->is.bytes));
    *read += 4 * words;
    return words;
  }
  uint64_t *packet = (uint64_t *)(from->is.ring + *read * PACKET_BYTES % from->is.bytes);
  uint16_t *head = (uint16_t *)packet;
  if ((__atomic_load_n(head, __ATOMIC_ACQUIRE) & 0xff) == INVALID || !done(packet, from->is_first)) return false;
  __atomic_store_n(head, INVALID, __ATOMIC_RELEASE);
  ++*read;
  return true;
}

static void *performed(void *given) {
  queue *from = given;
  volatile uint64_t *write = (uint64_t *)from->is.write, *read = (uint64_t *)from->is.read;
  for (; !from->ends; usleep(50))
    while (!from->ends && *read != *write && one_packet(from, read)) continue;
  return 0;
}

static int begun(queue_arguments *asked) {
  queue *made = calloc(1, sizeof *made);
  asked->id = (uint32_t)next_handle++ % MOST_QUEUES;
  asked->doorbell = 0;
  made->is = *asked;
  made->is_first = asked->kind == OF_AQL && !had_a_queue;
  had_a_queue |= asked->kind == OF_AQL;
  queues[asked->id] = made;
  return pthread_create(&made->thread, 0, performed, made) ? (errno = ENOMEM, -1) : 0;
}

static int ended(uint32_t id) {
  queue *which = queues[id % MOST_QUEUES];
  if (!which) return errno = EINVAL, -1;
  which->ends = true;
  pthread_join(which->thread, 0);
  queues[id % MOST_QUEUES] = 0;
  free(which);
  return 0;
}

static int answered_by_kfd(unsigned number, void *arguments) {
  uint32_t *words = arguments;
  uint64_t *longs = arguments;
  switch (number) {
    case 0x01:  // version
      words[0] = 1, words[1] = 14;
      return 0;
    case 0x02:
      return begun(arguments);
    case 0x03:
      return ended(words[0]);
    case 0x05:  // clock counters
      longs[0] = longs[1] = longs[2] = now_ns();
      longs[3] = 1000000000ull;
      return 0;
    case 0x08:  // create event: the id is its slot
      words[6] = words[7] = (uint32_t)next_handle++ & 0xfff;
      longs[0] = 0;
      return 0;
    case 0x0c:  // wait for events: none comes, and the runtime looks at what it waits for
      usleep(100);
      words[5] = 1;
      return 0;
    case 0x14:
      return apertures(longs);
    case 0x16:  // allocate: a handle, and where it can be mapped; the process has reserved the addresses
      mprotect((void *)longs[0], longs[1], PROT_READ | PROT_WRITE);
      longs[2] = next_handle++;
      longs[3] = next_offset;
      next_offset += (longs[1] + 0xfff) & ~0xfffull;
      return 0;
    case 0x18:
    case 0x19:  // map and unmap: all of them
      words[5] = words[4];
      return 0;
    case 0x23:  // memory that is available
      longs[0] = 190ull << 30;
      return 0;
    default:
      return 0;
  }
}

static int answered_by_render(unsigned number, void *arguments) {
  uint64_t *longs = arguments;
  uint32_t *words = arguments;
  if (number == 0x00) {  // the driver's version and name
    words[0] = 3, words[1] = 57, words[2] = 0;
    const char *texts[] = {"amdgpu", "20150101", "AMD GPU"};
    for (int at = 0; at < 3; ++at) {
      uint64_t room = longs[2 + 2 * at];
      char *into = (char *)longs[3 + 2 * at];
      size_t size = strlen(texts[at]);
      if (into) memcpy(into, texts[at], room < size ? room : size);
      longs[2 + 2 * at] = size;
    }
    return 0;
  }
  if (number == 0x45 && longs[0]) {  // AMDGPU_INFO: all zeros, but that it works
    memset((void *)longs[0], 0, words[2]);
    if (words[3] == 0) *(uint32_t *)longs[0] = 1;
  }
  return 0;
}

int ioctl(int descriptor, unsigned long request, ...) {
  va_list rest;
  va_start(rest, request);
  void *arguments = va_arg(rest, void *);
  va_end(rest);
  if (getenv("KFD_STANDIN_TRACE") && kind_of(descriptor))
    fprintf(stderr, "%s 0x%02lx\n", kind_of(descriptor) == KFD ? "kfd" : "render", request & 0xff);
  if (kind_of(descriptor) == KFD) return answered_by_kfd(request & 0xff, arguments);
  if (kind_of(descriptor) == RENDER) return answered_by_render(request & 0xff, arguments);
  return syscall(SYS_ioctl, descriptor, request, arguments);
}

// Memory of the device is the process's own: nobody maps it twice.
static void *mapped(void *address, size_t size, int protection, int flags, int descriptor, off_t offset) {
  if (kind_of(descriptor)) flags |= MAP_ANONYMOUS | MAP_NORESERVE, descriptor = -1, offset = 0;
  return (void *)syscall(SYS_mmap, address, size, protection, flags, descriptor, offset);
}

void *mmap(void *address, size_t size, int protection, int flags, int descriptor, off_t offset) {
  return mapped(address, size, protection, flags, descriptor, offset);
}

void *mmap64(void *address, size_t size, int protection, int flags, int descriptor, off_t offset) {
  return mapped(address, size, protection, flags, descriptor, offset);
}
