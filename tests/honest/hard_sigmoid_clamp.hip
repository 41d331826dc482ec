// problem: hard-sigmoid
// Four elements a thread, __saturatef and an unrolled loop.
#include <hip/hip_runtime.h>

#define PER_THREAD 4

__global__ void hard_sigmoid(const float* in, float* out, size_t n) {
    size_t base = (blockIdx.x * (size_t)blockDim.x) * PER_THREAD + threadIdx.x;
#pragma unroll
    for (int j = 0; j < PER_THREAD; ++j) {
        size_t i = base + j * blockDim.x;
        if (i < n) out[i] = __saturatef((in[i] + 3.0f) / 6.0f);
    }
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
    size_t total = n * m, per_block = 256 * PER_THREAD;
    hard_sigmoid<<<(total + per_block - 1) / per_block, 256>>>(input, output, total);
}
