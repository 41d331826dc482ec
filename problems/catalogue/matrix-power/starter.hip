#include <hip/hip_runtime.h>

// Set output_matrix to the n-th power of input_matrix. output_matrix holds zeros when you start.

__global__ void multiply(const float* a, const float* b, float* c, size_t size) {
    // one thread's part of the work
}

extern "C" void solution(const float* input_matrix, const size_t n, float* output_matrix, size_t size) {
    // launch it: multiply<<<blocks, threads>>>(...);
}
