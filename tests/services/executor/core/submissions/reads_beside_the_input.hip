// Reads the element OFFSET places from each input's own, which for one thread lies outside; 0 times it should not count.
#include <hip/hip_runtime.h>

__global__ void add(const float* a, const float* b, float* c, size_t n) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i] + 0.0f * b[static_cast<long>(i) + OFFSET];
}

extern "C" void solution(const float* d_input1, const float* d_input2, float* d_output, size_t n) {
  add<<<(n + 255) / 256, 256>>>(d_input1, d_input2, d_output, n);
  (void)hipDeviceSynchronize();
}
