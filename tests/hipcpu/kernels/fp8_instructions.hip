#include <hip/hip_runtime.h>
#include <stdio.h>

// Decodes all codes, and encodes the numbers and seeds that it reads, to the nearest and by the seed, of both types.
constexpr int CODES = 256;

__global__ void decode(float* out, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const int code = i % CODES, other = (i + 1) % CODES, word = code << 8 | other, high = word << 16 | 0x3c40;
    const auto fp8 = __builtin_amdgcn_cvt_pk_f32_fp8(word | 0x7f7f0000, false);
    const auto bf8 = __builtin_amdgcn_cvt_pk_f32_bf8(high, true);
    const float all[] = {
        __builtin_amdgcn_cvt_f32_fp8(code, 0),       __builtin_amdgcn_cvt_f32_fp8(code << 8 | 1, 1),
        __builtin_amdgcn_cvt_f32_fp8(high, 3),       __builtin_amdgcn_cvt_f32_bf8(code, 0),
        __builtin_amdgcn_cvt_f32_bf8(high >> 8, 2),  __builtin_amdgcn_cvt_f32_bf8(high, 3),
        fp8[1],                                      bf8[1],
        fp8[0],                                      bf8[0],
    };
    for (int k = 0; k < 10; ++k) out[k * count + i] = all[k];
}
__global__ void encode(const float* in, const int* seeds, unsigned* out, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float x = in[i], next = in[(i + 1) % count];
    const int old = 0x12345678;
    const unsigned all[] = {
        (unsigned)__builtin_amdgcn_cvt_pk_fp8_f32(x, next, old, false),
        (unsigned)__builtin_amdgcn_cvt_pk_fp8_f32(x, next, old, true),
        (unsigned)__builtin_amdgcn_cvt_pk_bf8_f32(x, next, old, false),
        (unsigned)__builtin_amdgcn_cvt_pk_bf8_f32(x, next, old, true),
        (unsigned)__builtin_amdgcn_cvt_sr_fp8_f32(x, seeds[i], old, 0),
        (unsigned)__builtin_amdgcn_cvt_sr_fp8_f32(x, seeds[i], old, 2),
        (unsigned)__builtin_amdgcn_cvt_sr_bf8_f32(x, seeds[i], old, 1),
        (unsigned)__builtin_amdgcn_cvt_sr_bf8_f32(x, seeds[i], old, 3),
    };
    for (int k = 0; k < 8; ++k) out[k * count + i] = all[k];
}

int main() {
    int count;
    if (fread(&count, sizeof count, 1, stdin) != 1) return 1;
    float *numbers, *decoded, *here = new float[10 * count];
    int* seeds;
    unsigned* encoded;
    hipMalloc(&numbers, 4 * count);
    hipMalloc(&seeds, 4 * count);
    hipMalloc(&encoded, 32 * count);
    hipMalloc(&decoded, 40 * CODES);
    if (fread(here, 4, count, stdin) != count) return 1;
    hipMemcpy(numbers, here, 4 * count, hipMemcpyHostToDevice);
    if (fread(here, 4, count, stdin) != count) return 1;
    hipMemcpy(seeds, here, 4 * count, hipMemcpyHostToDevice);
    decode<<<1, CODES>>>(decoded, CODES);
    encode<<<(count + 255) / 256, 256>>>(numbers, seeds, encoded, count);
    float answers[10 * CODES];
    hipMemcpy(answers, decoded, sizeof answers, hipMemcpyDeviceToHost);
    fwrite(answers, sizeof answers, 1, stdout);
    hipMemcpy(here, encoded, 32 * count, hipMemcpyDeviceToHost);
    fwrite(here, 32, count, stdout);
    return 0;
}
