// The kernel itself is called `solution`.
#include <hip/hip_runtime.h>

extern "C" __global__ void solution(const float* a, const float* b, float* c, size_t n) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
