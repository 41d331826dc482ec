// Looks for the run's seed wherever a program can look: in its own memory, its environment, and every file that it can
// open. What it looks for is handed to it for the test, as both halves of the seed's hex digits, written backwards.
#include <hip/hip_runtime.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char* const wanted[] = {"@FIRST_HALF@", "@SECOND_HALF@"};
static size_t looked_at = 0;
static size_t files = 0;

static unsigned char nibble(char digit) { return static_cast<unsigned char>(digit <= '9' ? digit - '0' : digit - 'a' + 10); }

// Compares without ever putting what it looks for together, or it would find itself.
static bool is_text(const char* bytes, const char* half) {
  for (int at = 0; at < 32; ++at)
    if (bytes[at] != half[31 - at]) return false;
  return true;
}

static bool is_raw(const char* bytes, const char* half) {
  for (int at = 0; at < 16; ++at)
    if (static_cast<unsigned char>(bytes[at]) != nibble(half[31 - 2 * at]) * 16 + nibble(half[30 - 2 * at])) return false;
  return true;
}

static int look(const char* bytes, size_t size) {
  int hits = 0;
  looked_at += size;
  for (size_t at = 0; at + 32 <= size; ++at)
    for (const char* half : wanted) hits += is_text(bytes + at, half) || is_raw(bytes + at, half);
  return hits;
}

static int look_into_memory() {
  FILE* maps = fopen("/proc/self/maps", "r");
  char line[512], access[8];
  size_t first, last;
  int hits = 0;
  while (fgets(line, sizeof line, maps) != nullptr)
    if (sscanf(line, "%zx-%zx %7s", &first, &last, access) == 3 && access[0] == 'r' && !strstr(line, "[v"))
      hits += look(reinterpret_cast<const char*>(first), last - first);
  fclose(maps);
  return hits;
}

static int look_into_file(const char* path) {
  static char bytes[1 << 20];
  const int descriptor = open(path, O_RDONLY | O_NONBLOCK);
  if (descriptor < 0) return 0;
  ++files;
  int hits = 0;
  for (int piece = 0; piece < 16; ++piece) {
    const ssize_t got = read(descriptor, bytes, sizeof bytes);
    if (got <= 0) break;
    hits += look(bytes, static_cast<size_t>(got));
  }
  close(descriptor);
  memset(bytes, 0, sizeof bytes);
  return hits;
}

static int hits_in_files = 0;
// A sandbox without a root of its own has its temporary folder elsewhere.
static const char* const temporary = getenv("TMPDIR") != nullptr ? getenv("TMPDIR") : "/tmp";
static char own[4096];

static int visit(const char* path, const struct stat*, int type, FTW*) {
  const bool endless = strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/usr/", 5) == 0;
  if (type == FTW_F && !endless && strcmp(path, own) != 0) hits_in_files += look_into_file(path);
  return 0;
}

static void look_everywhere() {
  snprintf(own, sizeof own, "%s/own", temporary);
  const int hits_in_memory = look_into_memory();
  for (const char* folder : {temporary, "/proc/self", "/proc/1", "/channel", "/build", "/tmp", "/etc", "/root", "/home", "/var"})
    nftw(folder, visit, 16, FTW_PHYS);
  // One that it must find, or the search is worth nothing.
  const int written = open(own, O_RDWR | O_CREAT, 0600);
  for (int at = 31; at >= 0; --at) (void)!write(written, wanted[0] + at, 1);
  close(written);
  printf("%d hits in %zu bytes of memory and %zu files, ", hits_in_memory + hits_in_files, looked_at, files);
  printf("%d of its own\n", look_into_file(own));
}

__global__ void add(const float* a, const float* b, float* c, size_t n) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

extern "C" void solution(const float* d_input1, const float* d_input2, float* d_output, size_t n) {
  static bool looked = false;
  if (!looked) look_everywhere();
  looked = true;
  add<<<(n + 255) / 256, 256>>>(d_input1, d_input2, d_output, n);
}
