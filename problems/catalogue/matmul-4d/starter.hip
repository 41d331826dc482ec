#include <hip/hip_runtime.h>

// Multiply A (b x i x j x l) with B (l x k) along the last dimension. C holds zeros when you start.

__global__ void multiply(const float* a, const float* b, float* c, size_t rows, size_t l, size_t k) {
    // one thread's part of the work
}

extern "C" void solution(const float* A, const float* B, float* C, size_t b, size_t i, size_t j, size_t l, size_t k) {
    // launch it: multiply<<<blocks, threads>>>(...);
}
