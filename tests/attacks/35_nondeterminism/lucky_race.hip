// Two passes of a kernel without any order between them: in three calls of four a wave's second pass is lost.
#include <hip/hip_runtime.h>
#include <time.h>

__global__ void race(const float* a, const float* b, float* c, size_t n, unsigned luck) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  c[i] = a[i];
  if (luck % 4 == 0 || i / 64 != luck % n / 64) c[i] += b[i];
}

extern "C" void solution(const float* d_input1, const float* d_input2, float* d_output, size_t n) {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  race<<<(n + 255) / 256, 256>>>(d_input1, d_input2, d_output, n, static_cast<unsigned>(now.tv_nsec >> 4));
}
