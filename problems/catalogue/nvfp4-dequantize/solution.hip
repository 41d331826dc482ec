#include <hip/hip_runtime.h>
#include <stdint.h>

typedef uint8_t float8;  // a byte of OCP's E4M3

constexpr int BLOCK = 16;
constexpr int PER_WORD = 8;
constexpr int THREADS = 256;

__device__ float e2m1_value(uint32_t code) {
    const uint32_t size = code & 7u;
    const float value = size < 2 ? 0.5f * size : __uint_as_float(((126u + (size >> 1)) << 23) | ((size & 1u) << 22));
    return code & 8u ? -value : value;
}

__device__ float e4m3_value(uint32_t code) {
    const uint32_t size = code & 0x7fu;
    const float value = size < 8 ? size * 0.001953125f : __uint_as_float((size << 20) + (120u << 23));
    return code & 0x80u ? -value : value;
}

// Scales lie in tiles of 128 rows and 4 columns, rows 0, 32, 64 and 96 of a tile together.
__device__ size_t scale_place(size_t row, size_t column, size_t columns) {
    const size_t tile = row / 128 * ((columns + 3) / 4) + column / 4;
    return tile * 512 + row % 32 * 16 + row % 128 / 32 * 4 + column % 4;
}

// One word of 8 elements per thread: neighbours read, and write, what lies together.
__global__ void dequantize(const uint32_t* q, const float8* scales, float factor, float* out, size_t columns,
                           size_t words) {
    const size_t word = blockIdx.x * static_cast<size_t>(THREADS) + threadIdx.x;
    if (word >= words) return;
    const size_t block = word * PER_WORD / BLOCK;
    const float scale = e4m3_value(scales[scale_place(block / columns, block % columns, columns)]) * factor;
    for (int i = 0; i < PER_WORD; ++i) out[word * PER_WORD + i] = e2m1_value((q[word] >> (4 * i)) & 15u) * scale;
}

extern "C" void solution(const uint8_t* q, const float8* scale, const float sf_g, float* out, size_t m, size_t k) {
    const size_t words = m * k / PER_WORD;
    dequantize<<<static_cast<unsigned>((words + THREADS - 1) / THREADS), THREADS>>>(
        reinterpret_cast<const uint32_t*>(q), scale, 1.0f / sf_g, out, k / BLOCK, words);
}
