#include <hip/hip_runtime.h>

// Multiply each of the n matrices (m x k) in A with B (k x l). C holds zeros when you start.

__global__ void multiply(const float* a, const float* b, float* c, size_t rows, size_t k, size_t l) {
    // one thread's part of the work
}

extern "C" void solution(const float* A, const float* B, float* C, size_t n, size_t m, size_t k, size_t l) {
    // launch it: multiply<<<blocks, threads>>>(...);
}
