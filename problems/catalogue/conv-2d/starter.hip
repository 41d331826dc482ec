#include <hip/hip_runtime.h>

// Slide the Kh x Kw taps of B over the H x W image A, with zeros around it. C holds zeros when you start.

__global__ void convolve(const float* image, const float* filter, float* output, size_t H, size_t W, size_t Kh,
                         size_t Kw) {
    // one thread's part of the work
}

extern "C" void solution(const float* A, const float* B, float* C, size_t H, size_t W, size_t Kh, size_t Kw) {
    // launch it: convolve<<<blocks, threads>>>(...);
}
