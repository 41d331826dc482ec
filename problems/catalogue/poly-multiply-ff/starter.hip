#include <hip/hip_runtime.h>
#include <stdint.h>

// Coefficient k of the product is the sum of a[i] * b[k - i], modulo 2^31 - 1.

__global__ void multiply(const uint32_t* a, const uint32_t* b, uint32_t* output, int n) {
    // one thread's part of the work
}

extern "C" void solution(const uint32_t* d_input1, const uint32_t* d_input2, uint32_t* d_output, size_t n) {
    // launch it: multiply<<<blocks, threads>>>(...);
}
