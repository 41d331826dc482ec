// Leaves marks wherever it can: in device memory, in host memory, in files, and in globals of the device.
#include <hip/hip_runtime.h>
#include <fcntl.h>
#include <unistd.h>

constexpr unsigned long long MARK = 0x57617665706f6f6cull;
__device__ unsigned long long left_behind[1 << 16];

__global__ void mark(unsigned long long* at, size_t count) {
  for (size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    at[i] = MARK ^ 0xffff;
}

__global__ void mark_globals() { left_behind[blockIdx.x * blockDim.x + threadIdx.x] = MARK ^ 0xffff; }

static void mark_file(const char* path) {
  const int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0666);
  const unsigned long long word = MARK ^ 0xffff;
  for (int i = 0; file >= 0 && i < 4096; ++i) (void)!write(file, &word, sizeof word);
}

__global__ void add(const float* a, const float* b, float* c, size_t n) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

extern "C" void solution(const float* d_input1, const float* d_input2, float* d_output, size_t n) {
  unsigned long long* memory = nullptr;
  constexpr size_t count = (24 << 20) / sizeof *memory;
  (void)hipMalloc(&memory, count * sizeof *memory);
  mark<<<256, 256>>>(memory, count);
  mark_globals<<<256, 256>>>();
  for (const char* path : {"/tmp/left", "/dev/shm/left", "/channel/left", "/build/left", "/var/tmp/left", "/left"})
    mark_file(path);
  add<<<(n + 255) / 256, 256>>>(d_input1, d_input2, d_output, n);
}
