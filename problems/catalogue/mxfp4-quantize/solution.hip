#include <hip/hip_runtime.h>
#include <stdint.h>

constexpr int BLOCK = 32;
constexpr int WORDS = 4;
constexpr int PER_WORD = BLOCK / WORDS;
constexpr int THREADS = 256;

// The code of the nearest of 0, 0.5, 1, 1.5, 2, 3, 4 and 6: the turns are in between, and ties go to the even code.
__device__ uint32_t e2m1_code(float x) {
    const float size = fabsf(x);
    const uint32_t code = (size > 0.25f) + (size >= 0.75f) + (size > 1.25f) + (size >= 1.75f) + (size > 2.5f) +
                          (size >= 3.5f) + (size > 5.0f);
    return code | (signbit(x) ? 8u : 0u);
}

// One block per thread. Its scale is the largest magnitude's exponent, less 2: floats have it in their bits, with the
// bias that scales have too.
__global__ void quantize(const float* a, uint32_t* q, uint8_t* scale, size_t blocks) {
    const size_t block = blockIdx.x * static_cast<size_t>(THREADS) + threadIdx.x;
    if (block >= blocks) return;
    float values[BLOCK], largest = 0.0f;
    for (int i = 0; i < BLOCK; ++i) {
        values[i] = a[block * BLOCK + i];
        largest = fmaxf(largest, fabsf(values[i]));
    }
    const uint32_t exponent = (__float_as_uint(largest) >> 23) - 2;
    const float factor = __uint_as_float((254u - exponent) << 23);
    scale[block] = static_cast<uint8_t>(exponent);
    for (int word = 0; word < WORDS; ++word) {
        uint32_t packed = 0;
        for (int i = 0; i < PER_WORD; ++i) packed |= e2m1_code(values[word * PER_WORD + i] * factor) << (4 * i);
        q[block * WORDS + word] = packed;
    }
}

extern "C" void solution(const float* a, uint8_t* q, uint8_t* scale, size_t m, size_t k) {
    const size_t blocks = m * k / BLOCK;
    quantize<<<static_cast<unsigned>((blocks + THREADS - 1) / THREADS), THREADS>>>(a, reinterpret_cast<uint32_t*>(q),
                                                                                   scale, blocks);
}
