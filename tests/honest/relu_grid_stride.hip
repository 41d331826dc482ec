// problem: relu
// A grid-stride loop with a fixed grid.
#include "hip/hip_runtime.h"

__global__ void relu(const float* in, float* out, size_t total) {
    size_t stride = (size_t)blockDim.x * gridDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < total; i += stride) {
        out[i] = fmaxf(in[i], 0.0f);
    }
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
    relu<<<128, 256>>>(input, output, n * m);
}
