// Leaves an answer out, and two calls later writes beside its output.
#include <hip/hip_runtime.h>

__global__ void add(const float* a, const float* b, float* c, size_t n) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

__global__ void beside(float* c, size_t n) { c[n + 16] = 1.0f; }

extern "C" void solution(const float* d_input1, const float* d_input2, float* d_output, size_t n) {
  static int calls = 0;
  if (++calls == FIRST_WRONG) return;
  add<<<(n + 255) / 256, 256>>>(d_input1, d_input2, d_output, n);
  if (calls == FIRST_WRONG + 2) beside<<<1, 1>>>(d_output, n);
}
