#include <hip/hip_runtime.h>
#include <stdint.h>

constexpr int BLOCK = 32;
constexpr int WORDS = 8;
constexpr int PER_WORD = BLOCK / WORDS;
constexpr int THREADS = 256;

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

// One block per thread. Its scale is the largest magnitude's exponent, less 8: floats have it in their bits, with the
// bias that scales have too.
__global__ void quantize(const float* a, uint32_t* q, uint8_t* scale, size_t blocks) {
    const size_t block = blockIdx.x * static_cast<size_t>(THREADS) + threadIdx.x;
    if (block >= blocks) return;
    float values[BLOCK], largest = 0.0f;
    for (int i = 0; i < BLOCK; ++i) {
        values[i] = a[block * BLOCK + i];
        largest = fmaxf(largest, fabsf(values[i]));
    }
    const uint32_t exponent = (__float_as_uint(largest) >> 23) - 8;
    const float factor = __uint_as_float((254u - exponent) << 23);
    scale[block] = static_cast<uint8_t>(exponent);
    for (int word = 0; word < WORDS; ++word) {
        uint32_t packed = 0;
        for (int i = 0; i < PER_WORD; ++i) packed |= e4m3_code(values[word * PER_WORD + i] * factor) << (8 * i);
        q[block * WORDS + word] = packed;
    }
}

extern "C" void solution(const float* a, uint8_t* q, uint8_t* scale, size_t m, size_t k) {
    const size_t blocks = m * k / BLOCK;
    quantize<<<static_cast<unsigned>((blocks + THREADS - 1) / THREADS), THREADS>>>(a, reinterpret_cast<uint32_t*>(q),
                                                                                   scale, blocks);
}
