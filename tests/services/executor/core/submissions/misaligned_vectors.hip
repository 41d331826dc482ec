// Adds by float4 from one element behind where a float4 may be.
#include <hip/hip_runtime.h>

__global__ void add(const float* a, const float* b, float* c, size_t n) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

__global__ void add_vectors(const float* a, const float* b, float* c, size_t n) {
  const size_t i = 1 + 4 * (blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x);
  if (i + 4 > n) return;
  const float4 x = *reinterpret_cast<const float4*>(a + i), y = *reinterpret_cast<const float4*>(b + i);
  *reinterpret_cast<float4*>(c + i) = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
}

extern "C" void solution(const float* d_input1, const float* d_input2, float* d_output, size_t n) {
  add<<<(n + 255) / 256, 256>>>(d_input1, d_input2, d_output, n);
  add_vectors<<<(n / 4 + 255) / 256, 256>>>(d_input1, d_input2, d_output, n);
}
