#include <hip/hip_runtime.h>
#include <stdint.h>

constexpr uint32_t PRIME = 0x7fffffffu;

// 2^31 is 1 modulo the prime, so the upper bits of a product count as much as the lower ones.
__device__ uint32_t product(uint32_t a, uint32_t b) {
    const uint64_t whole = static_cast<uint64_t>(a) * b;
    const uint32_t sum = static_cast<uint32_t>(whole & PRIME) + static_cast<uint32_t>(whole >> 31);
    return sum >= PRIME ? sum - PRIME : sum;
}

__global__ void multiply(const uint32_t* a, const uint32_t* b, uint32_t* output, size_t n) {
    const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
    if (i < n) output[i] = product(a[i], b[i]);
}

extern "C" void solution(const uint32_t* d_input1, const uint32_t* d_input2, uint32_t* d_output, size_t n) {
    const unsigned threads = 256;
    multiply<<<static_cast<unsigned>((n + threads - 1) / threads), threads>>>(d_input1, d_input2, d_output, n);
}
