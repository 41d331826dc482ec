// problem: threshold
// Votes and shuffles with masks of 32 bits and lane numbers from 0 to 31.
#include <hip/hip_runtime.h>
__global__ void k(const float* p, float t, float* o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned mask = __ballot_sync(0xFFFFFFFFu, i < n);
    if (i < n) {
        int v = __shfl_sync(mask, __float_as_int(p[i]), threadIdx.x & 31);
        int any = __any_sync(mask, 1), all = __all_sync(mask, 1);
        unsigned m = __match_any_sync(mask, 7);
        __syncwarp(mask);
        __syncwarp();
        o[i] = (__int_as_float(v) > t && any && all && m) ? 255.0f : 0.0f;
    }
}
extern "C" void solution(const float* a, float t, float* o, size_t h, size_t w) {
    int n = h * w;
    k<<<(n + 255) / 256, 256>>>(a, t, o, n);
}
