#include <hip/hip_runtime.h>

// Multiply the m x k matrix input_a with the vector input_b. output_c holds zeros when you start.

__global__ void multiply(const float* a, const float* b, float* c, size_t m, size_t k) {
    // one thread's part of the work
}

extern "C" void solution(const float* input_a, const float* input_b, float* output_c, size_t m, size_t k) {
    // launch it: multiply<<<blocks, threads>>>(...);
}
