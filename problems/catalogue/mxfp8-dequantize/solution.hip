#include <hip/hip_runtime.h>
#include <stdint.h>

constexpr int BLOCK = 32;
constexpr int PER_WORD = 4;
constexpr int THREADS = 256;

__device__ float e4m3_value(uint32_t code) {
    const uint32_t size = code & 0x7fu;
    const float value = size < 8 ? size * 0.001953125f : __uint_as_float((size << 20) + (120u << 23));
    return code & 0x80u ? -value : value;
}

__device__ float power_of_two(uint32_t scale) { return __uint_as_float(scale << 23); }

// One word of 4 elements per thread: neighbours read, and write, what lies together.
__global__ void dequantize(const uint32_t* q, const uint8_t* scale, float* out, size_t words) {
    const size_t word = blockIdx.x * static_cast<size_t>(THREADS) + threadIdx.x;
    if (word >= words) return;
    const uint32_t packed = q[word];
    const float factor = power_of_two(scale[word * PER_WORD / BLOCK]);
    for (int i = 0; i < PER_WORD; ++i) out[word * PER_WORD + i] = e4m3_value((packed >> (8 * i)) & 0xffu) * factor;
}

extern "C" void solution(const uint8_t* q, const uint8_t* scale, float* out, size_t m, size_t k) {
    const size_t words = m * k / PER_WORD;
    dequantize<<<static_cast<unsigned>((words + THREADS - 1) / THREADS), THREADS>>>(
        reinterpret_cast<const uint32_t*>(q), scale, out, words);
}
