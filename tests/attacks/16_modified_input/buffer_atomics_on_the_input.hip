// An atomic of a raw buffer over an input adds to one of its elements.
#include <hip/hip_runtime.h>
typedef int int4_v __attribute__((ext_vector_type(4)));
__device__ float add_to(float, int4_v, int, int, int) __asm("llvm.amdgcn.raw.buffer.atomic.fadd.f32");

__global__ void add(const float* a, const float* b, float* c, size_t n) {
  const int4_v input = {(int)(size_t)b, (int)((size_t)b >> 32 & 0xffff), (int)(n * 4), 0x00027000};
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
  if (i == 7) add_to(1, input, i * 4, 0, 0);
}

extern "C" void solution(const float* d_input1, const float* d_input2, float* d_output, size_t n) {
  add<<<(n + 255) / 256, 256>>>(d_input1, d_input2, d_output, n);
}
