// A raw buffer over an input, described to the end of memory, is written through an intrinsic that is called by label.
#include <hip/hip_runtime.h>
typedef int int4_v __attribute__((ext_vector_type(4)));
__device__ void store(float, int4_v, int, int, int) __asm("llvm.amdgcn.raw.buffer.store.f32");

__global__ void add(const float* a, const float* b, float* c, size_t n) {
  const int4_v input = {(int)(size_t)a, (int)((size_t)a >> 32), -1, 0x00020000};
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
  if (i == 5) store(a[i] + 1, input, i * 4, 0, 0);
}

extern "C" void solution(const float* d_input1, const float* d_input2, float* d_output, size_t n) {
  add<<<(n + 255) / 256, 256>>>(d_input1, d_input2, d_output, n);
}
