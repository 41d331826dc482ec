// Stands in for the amdgpu driver where there is none: with LD_PRELOAD, opens of /dev/kfd and of render nodes that exist
// as plain files succeed, and their ioctls answer as the kernel's do, as far as the runtime needs them to list agents and
// to hand out memory. No kernel can run. The numbers and structures are those of linux/kfd_ioctl.h and drm/amdgpu_drm.h.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
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

static int answered_by_kfd(unsigned number, void *arguments) {
  uint32_t *words = arguments;
  uint64_t *longs = arguments;
  struct timespec now;
  switch (number) {
    case 0x01:  // version
      words[0] = 1, words[1] = 14;
      return 0;
    case 0x05:  // clock counters
      clock_gettime(CLOCK_MONOTONIC_RAW, &now);
      longs[0] = longs[1] = longs[2] = now.tv_sec * 1000000000ull + now.tv_nsec;
      longs[3] = 1000000000ull;
      return 0;
    case 0x08:  // create event: the id is its slot
      words[6] = words[7] = (uint32_t)next_handle++ & 0xfff;
      longs[0] = 0;
      return 0;
    case 0x0c:  // wait for events: none comes
      words[5] = 1;
      return 0;
    case 0x14:
      return apertures(longs);
    case 0x16:  // allocate: a handle, and where it can be mapped
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
