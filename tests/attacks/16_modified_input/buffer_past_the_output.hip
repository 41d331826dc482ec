// A raw buffer's descriptor says that the output is one element longer than it is, and that element is written.
#include <hip/hip_runtime.h>

__global__ void add(const float* a, const float* b, float* c, size_t n) {
  const auto output = __builtin_amdgcn_make_buffer_rsrc(c, 0, (n + 1) * 4, 0x00027000);
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i > n) return;
  const float sum = i < n ? a[i] + b[i] : 1;
  __builtin_amdgcn_raw_buffer_store_b32(__builtin_bit_cast(unsigned, sum), output, i * 4, 0, 0);
}

extern "C" void solution(const float* d_input1, const float* d_input2, float* d_output, size_t n) {
  add<<<(n + 256) / 256, 256>>>(d_input1, d_input2, d_output, n);
}
