// Looks for the run's seed wherever a program can look: its environment, its arguments, every file that it can open,
// and its own memory. What it looks for is handed to it for the test: both halves of the seed's hex digits.
#include <hip/hip_runtime.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char* const wanted[] = {"@FIRST_HALF@", "@SECOND_HALF@"};
static size_t looked_at = 0;
static size_t files = 0;
static int hits = 0;

static void look(const char* bytes, size_t size) {
  looked_at += size;
  for (const char* half : wanted) {
    char text[33] = {};
    unsigned char raw[16];
    // The words are stored reversed, so that the search does not find itself.
    for (int at = 0; at < 32; ++at) text[at] = half[31 - at];
    for (int at = 0; at < 16; ++at) sscanf(text + 2 * at, "%2hhx", raw + at);
    hits += memmem(bytes, size, text, 32) != nullptr;
    hits += memmem(bytes, size, raw, 16) != nullptr;
    memset(text, 0, sizeof text);
    memset(raw, 0, sizeof raw);
  }
}

static void look_into_file(const char* path) {
  static char bytes[1 << 20];
  const int descriptor = open(path, O_RDONLY | O_NONBLOCK);
  if (descriptor < 0) return;
  ++files;
  for (int piece = 0; piece < 16; ++piece) {
    const ssize_t got = read(descriptor, bytes, sizeof bytes);
    if (got <= 0) break;
    look(bytes, static_cast<size_t>(got));
  }
  close(descriptor);
}

static int visit(const char* path, const struct stat*, int type, FTW*) {
  const bool endless = strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/usr/", 5) == 0;
  if (type == FTW_F && !endless) look_into_file(path);
  return 0;
}

static void look_everywhere() {
  for (const char* folder : {"/proc/self", "/proc/1", "/channel", "/build", "/tmp", "/etc", "/root", "/home", "/var"})
    nftw(folder, visit, 16, FTW_PHYS);
  for (char** variable = environ; *variable != nullptr; ++variable) look(*variable, strlen(*variable));
  printf("%d hits in %zu bytes of %zu files\n", hits, looked_at, files);
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
