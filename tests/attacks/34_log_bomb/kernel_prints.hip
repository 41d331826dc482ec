// Every thread of a kernel prints.
#include <hip/hip_runtime.h>

__global__ void shout(size_t n) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) printf("thread %zu of %zu says that it is here\n", i, n);
}

__global__ void add(const float* a, const float* b, float* c, size_t n) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

extern "C" void solution(const float* d_input1, const float* d_input2, float* d_output, size_t n) {
  shout<<<(n + 255) / 256, 256>>>(n);
  add<<<(n + 255) / 256, 256>>>(d_input1, d_input2, d_output, n);
}
