// problem: relu
#include <hip/hip_runtime.h>
typedef int int4_v __attribute__((ext_vector_type(4)));
extern "C" __device__ int load(int4_v resource, int offset, int base, int hints) __asm("llvm.amdgcn.raw.buffer.load.i32");

__global__ void k(const float* in, float* out, size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int4_v resource = {(int)(size_t)in, (int)((size_t)in >> 32), (int)(n * 4), 0x00020000};
    const float v = __int_as_float(load(resource, i * 4, 0, 0));
    if (i < (int)n) out[i] = v > 0 ? v : 0;
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
    const size_t count = n * m;
    k<<<(count + 255) / 256, 256>>>(input, output, count);
}
