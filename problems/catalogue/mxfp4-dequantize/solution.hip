#include <hip/hip_runtime.h>
#include <stdint.h>

constexpr int BLOCK = 32;
constexpr int PER_WORD = 8;
constexpr int THREADS = 256;

__device__ float e2m1_value(uint32_t code) {
    const uint32_t size = code & 7u;
    const float value = size < 2 ? 0.5f * size : __uint_as_float(((126u + (size >> 1)) << 23) | ((size & 1u) << 22));
    return code & 8u ? -value : value;
}

__device__ float power_of_two(uint32_t scale) { return __uint_as_float(scale << 23); }

// One word of 8 elements per thread: neighbours read, and write, what lies together.
__global__ void dequantize(const uint32_t* q, const uint8_t* scale, float* out, size_t words) {
    const size_t word = blockIdx.x * static_cast<size_t>(THREADS) + threadIdx.x;
    if (word >= words) return;
    const uint32_t packed = q[word];
    const float factor = power_of_two(scale[word * PER_WORD / BLOCK]);
    for (int i = 0; i < PER_WORD; ++i) out[word * PER_WORD + i] = e2m1_value((packed >> (4 * i)) & 15u) * factor;
}

extern "C" void solution(const uint8_t* q, const uint8_t* scale, float* out, size_t m, size_t k) {
    const size_t words = m * k / PER_WORD;
    dequantize<<<static_cast<unsigned>((words + THREADS - 1) / THREADS), THREADS>>>(
        reinterpret_cast<const uint32_t*>(q), scale, out, words);
}
