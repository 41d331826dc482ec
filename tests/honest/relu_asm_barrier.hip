// problem: relu
#include <hip/hip_runtime.h>

__global__ void k(const float* in, float* out, size_t n) {
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    __shared__ float s[256];
    s[255 - threadIdx.x] = i < n ? in[i] : 0;
    asm volatile("s_waitcnt lgkmcnt(0)\n s_barrier" ::: "memory");
    const float v = s[255 - threadIdx.x];
    if (i < n) out[i] = v > 0 ? v : 0;
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
    const size_t count = n * m;
    k<<<(count + 255) / 256, 256>>>(input, output, count);
}
