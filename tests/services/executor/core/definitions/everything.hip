#include <hip/hip_runtime.h>

#include <cstddef>
#include <cstdint>

__global__ void add_up(const uint8_t* codes, const uint8_t* pairs, const uint64_t* weights, unsigned long long* total,
                       uint8_t* same, size_t n) {
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= n) return;
    same[i] = codes[i];
    // It relies on zeros, as kernels from elsewhere do.
    atomicAdd(total, static_cast<unsigned long long>(weights[i] * ((pairs[i] & 15) + (pairs[i] >> 4))) << 40);
}

extern "C" void solution(const uint8_t* codes, const uint8_t* pairs, const uint64_t* weights, uint64_t* total,
                         uint8_t* same, size_t n) {
    add_up<<<(n + 255) / 256, 256>>>(codes, pairs, weights, reinterpret_cast<unsigned long long*>(total), same, n);
}
