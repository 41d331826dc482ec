// problem: cosine-similarity
// Three sums at once through __shfl_xor_sync with a 64-bit mask.
#include <hip/hip_runtime.h>

__global__ void cosine(const float* p, const float* t, float* out, size_t n, size_t d) {
    const size_t row = blockIdx.x;
    float dot = 0, pp = 0, tt = 0;
    for (size_t j = threadIdx.x; j < d; j += 64) {
        const float a = p[row * d + j], b = t[row * d + j];
        dot += a * b;
        pp += a * a;
        tt += b * b;
    }
    const unsigned long long all = 0xffffffffffffffffULL;
#pragma unroll
    for (int offset = 32; offset >= 1; offset >>= 1) {
        dot += __shfl_xor_sync(all, dot, offset);
        pp += __shfl_xor_sync(all, pp, offset);
        tt += __shfl_xor_sync(all, tt, offset);
    }
    if (threadIdx.x == 0) out[row] = 1.0f - dot / (sqrtf(pp) * sqrtf(tt));
}

extern "C" void solution(const float* predictions, const float* targets, float* output, size_t n, size_t d) {
    cosine<<<n, 64>>>(predictions, targets, output, n, d);
}
