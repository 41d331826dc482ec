// problem: vector-multiply-ff
// 64-bit products, shifts and masks in place of a division.
#include <hip/hip_runtime.h>
#include <stdint.h>

__device__ __forceinline__ uint32_t multiply_mod(uint32_t a, uint32_t b) {
    const uint64_t p = 0x7fffffffull;
    uint64_t x = (uint64_t)a * b;
    x = (x & p) + (x >> 31);
    x = (x & p) + (x >> 31);
    return x >= p ? (uint32_t)(x - p) : (uint32_t)x;
}

__global__ void multiply(const uint32_t* a, const uint32_t* b, uint32_t* c, size_t n) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        c[i] = multiply_mod(a[i], b[i]);
}

extern "C" void solution(const uint32_t* d_input1, const uint32_t* d_input2, uint32_t* d_output, size_t n) {
    int device = 0, units = 0;
    hipGetDevice(&device);
    hipDeviceGetAttribute(&units, hipDeviceAttributeMultiprocessorCount, device);
    multiply<<<units * 8, 256>>>(d_input1, d_input2, d_output, n);
}
