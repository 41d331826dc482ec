#include <hip/hip_runtime.h>

// Slide the K x K x K taps of B over the cube A, with zeros around it. C holds zeros when you start.

__global__ void convolve(const float* cube, const float* filter, float* output, int size, int taps) {
    // one thread's part of the work
}

extern "C" void solution(const float* A, const float* B, float* C, size_t size, size_t K) {
    // launch it: convolve<<<blocks, threads>>>(...);
}
