#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>

__global__ void k(const half* in, half* out, size_t n) {
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) out[i] = (float)in[i] > 0 ? in[i] * 1.0f : 0.0f;
}

extern "C" void solution(const half* input, half* output, size_t n, size_t m) {
    const size_t count = n * m;
    k<<<(count + 255) / 256, 256>>>(input, output, count);
}
