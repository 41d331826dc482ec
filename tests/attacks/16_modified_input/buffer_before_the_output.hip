// A raw buffer's descriptor begins one element before the output, and the element before it is written.
#include <hip/hip_runtime.h>

__global__ void add(const float* a, const float* b, float* c, size_t n) {
  const auto output = __builtin_amdgcn_make_buffer_rsrc(c - 1, 0, (n + 1) * 4, 0x00027000);
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  __builtin_amdgcn_raw_buffer_store_b32(__builtin_bit_cast(unsigned, a[i] + b[i]), output, (i + 1) * 4, 0, 0);
  if (i == 0) __builtin_amdgcn_raw_buffer_store_b32(1, output, 0, 0, 0);
}

extern "C" void solution(const float* d_input1, const float* d_input2, float* d_output, size_t n) {
  add<<<(n + 255) / 256, 256>>>(d_input1, d_input2, d_output, n);
}
