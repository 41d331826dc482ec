#include <hip/hip_runtime.h>

// Take the maximum of each window of the H x W x D volume. Its padding is -infinity.

__global__ void pool(const float* input, float* output, int height, int width, int depth) {
    // one thread's part of the work
}

extern "C" void solution(const float* input, int kernel_size, int stride, int padding, int dilation, float* output,
                         size_t H, size_t W, size_t D) {
    // launch it: pool<<<blocks, threads>>>(...);
}
