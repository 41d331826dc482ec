// Copies vectors from and to one element behind where a vector may be, as a whole.
#include <hip/hip_runtime.h>

typedef float vector __attribute__((ext_vector_type(4)));

__global__ void add(const float* a, const float* b, float* c, size_t n) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

__global__ void copy(const float* a, float* c) {
  *reinterpret_cast<vector*>(c + 1) = *reinterpret_cast<const vector*>(a + 1);
}

extern "C" void solution(const float* d_input1, const float* d_input2, float* d_output, size_t n) {
  copy<<<1, 1>>>(d_input1, d_output);
  add<<<(n + 255) / 256, 256>>>(d_input1, d_input2, d_output, n);
}
