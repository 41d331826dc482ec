// problem: relu
#include <hip/hip_runtime.h>

__global__ void k(const float* in, float* out, size_t n) {
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    const unsigned long long positive = __builtin_amdgcn_ballot_w64(i < n && in[i] > 0);
    if (i < n) out[i] = positive >> (threadIdx.x & 63) & 1 ? in[i] : 0;
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
    const size_t count = n * m;
    k<<<(count + 255) / 256, 256>>>(input, output, count);
}
