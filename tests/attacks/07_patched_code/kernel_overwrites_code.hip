// No host code: a kernel writes over the code of its own process, from the address of one of its functions on.
#include <hip/hip_runtime.h>

__device__ __attribute__((noinline)) float sum_of(float a, float b) { return a + b; }

extern "C" __global__ void patch(float*) {
  auto* code = reinterpret_cast<volatile unsigned char*>(&sum_of);
  for (int at = 0; at < 4096; ++at) code[at] = 0xc3;
}

extern "C" __global__ void add(const float* a, const float* b, float* c, size_t n) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) c[i] = sum_of(a[i], b[i]);
}
