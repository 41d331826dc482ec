#include <hip/hip_runtime.h>
#include <stdint.h>

// C = A B^T of E2M1 elements, two to a byte, of which 32 neighbours share a power of two. c holds zeros when you start.

__global__ void multiply(const uint8_t* q_a, const uint8_t* scale_a, const uint8_t* q_b, const uint8_t* scale_b,
                         float* c, int m, int n, int k) {
    // one thread's part of the work
}

extern "C" void solution(const uint8_t* q_a, const uint8_t* scale_a, const uint8_t* q_b, const uint8_t* scale_b,
                         float* c, size_t m, size_t n, size_t k) {
    // launch it: multiply<<<blocks, threads>>>(...);
}
