// Touches memory that nobody has, at an address that is one: a processor answers to others with SIGSEGV or SIGBUS.
#include <hip/hip_runtime.h>

__global__ void add(float* a, const float* b, float* c, size_t n) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) c[i - (1ull << 42)] = a[i] + b[i];
}

extern "C" void solution(const float* d_input1, const float* d_input2, float* d_output, size_t n) {
  add<<<(n + 255) / 256, 256>>>(const_cast<float*>(d_input1), d_input2, d_output, n);
  (void)hipDeviceSynchronize();
}
