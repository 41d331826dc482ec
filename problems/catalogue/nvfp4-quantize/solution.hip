#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
#include <stdint.h>

typedef uint8_t float8;  // a byte of OCP's E4M3
typedef _Float16 float16;

constexpr int BLOCK = 16;
constexpr int WORDS = 2;
constexpr int PER_WORD = BLOCK / WORDS;
constexpr int THREADS = 256;

// The code of the nearest of 0, 0.5, 1, 1.5, 2, 3, 4 and 6: the turns are in between, and ties go to the even code.
__device__ uint32_t e2m1_code(float x) {
    const float size = fabsf(x);
    const uint32_t code = (size > 0.25f) + (size >= 0.75f) + (size > 1.25f) + (size >= 1.75f) + (size > 2.5f) +
                          (size >= 3.5f) + (size > 5.0f);
    return code | (signbit(x) ? 8u : 0u);
}

// Below 2^-6 codes count steps of 2^-9; above, they are the upper bits of a float, whose exponent has another bias.
__device__ uint32_t e4m3_code(float x) {
    const float size = fminf(fabsf(x), 448.0f);
    uint32_t code;
    if (size < 0.015625f) {
        code = static_cast<uint32_t>(rintf(size * 512.0f));
    } else {
        const uint32_t bits = __float_as_uint(size);
        code = ((bits + 0x7ffffu + ((bits >> 20) & 1u)) >> 20) - (120u << 3);
    }
    return code | (signbit(x) ? 0x80u : 0u);
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

// One block per thread. Elements are measured by the scale as it was rounded.
__global__ void quantize(const float16* a, float sf_g, uint32_t* q, float8* scales, size_t columns, size_t blocks) {
    const size_t block = blockIdx.x * static_cast<size_t>(THREADS) + threadIdx.x;
    if (block >= blocks) return;
    float values[BLOCK], largest = 0.0f;
    for (int i = 0; i < BLOCK; ++i) {
        values[i] = static_cast<float>(a[block * BLOCK + i]);
        largest = fmaxf(largest, fabsf(values[i]));
    }
    const uint32_t scale = e4m3_code(largest / 6.0f * sf_g);
    scales[scale_place(block / columns, block % columns, columns)] = static_cast<float8>(scale);
    const float factor = sf_g / e4m3_value(scale);
    for (int word = 0; word < WORDS; ++word) {
        uint32_t packed = 0;
        for (int i = 0; i < PER_WORD; ++i) packed |= e2m1_code(values[word * PER_WORD + i] * factor) << (4 * i);
        q[block * WORDS + word] = packed;
    }
}

extern "C" void solution(const float16* a, const float sf_g, uint8_t* q, float8* scale, size_t m, size_t k) {
    const size_t columns = k / BLOCK, blocks = m * columns;
    quantize<<<static_cast<unsigned>((blocks + THREADS - 1) / THREADS), THREADS>>>(
        a, sf_g, reinterpret_cast<uint32_t*>(q), scale, columns, blocks);
}
