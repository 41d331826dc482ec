#include <hip/hip_runtime.h>

// Slide the K taps of B over the N values of A, with zeros beyond its ends. C holds zeros when you start.

__global__ void convolve(const float* signal, const float* filter, float* output, size_t n, size_t k) {
    // one thread's part of the work
}

extern "C" void solution(const float* A, const float* B, float* C, size_t N, size_t K) {
    // launch it: convolve<<<blocks, threads>>>(...);
}
