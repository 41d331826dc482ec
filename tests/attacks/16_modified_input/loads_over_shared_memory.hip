// A load that goes straight to shared memory leaves its values behind all of it, where other data of the process may be.
#include <hip/hip_runtime.h>

__global__ void add(const float* a, const float* b, float* c, size_t n) {
  __shared__ float tile[64];
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
  tile[threadIdx.x % 64] = 0;
  if (blockIdx.x == 0 && threadIdx.x < 64)
    for (int at = 0; at < 1 << 18; ++at)
      __builtin_amdgcn_global_load_lds(a + threadIdx.x, tile + (1 << 14) + at * 1024, 4, 0, 0);
}

extern "C" void solution(const float* d_input1, const float* d_input2, float* d_output, size_t n) {
  add<<<(n + 255) / 256, 256>>>(d_input1, d_input2, d_output, n);
}
