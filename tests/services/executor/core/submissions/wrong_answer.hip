// Adds a little too much to every third element.
#include <hip/hip_runtime.h>

__global__ void add(float* a, const float* b, float* c, size_t n) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i] + (i % 3 == 2 ? 0.5f : 0.0f);
}

extern "C" void solution(const float* d_input1, const float* d_input2, float* d_output, size_t n) {
  add<<<(n + 255) / 256, 256>>>(const_cast<float*>(d_input1), d_input2, d_output, n);
  (void)hipDeviceSynchronize();
}
