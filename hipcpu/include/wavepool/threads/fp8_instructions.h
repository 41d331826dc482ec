// clang's names for the conversions of 8-bit floating-point numbers of gfx942: fp8 is E4M3 and bf8 is E5M2, both fnuz.
// As in AMD's "CDNA3 Instruction Set Architecture", the results go to one byte or half of a register, whose other parts
// `old` has. A number that is too large, or infinite, becomes NaN.
#pragma once

#include "wavepool/math/fp8_codes.h"

#define WP_FN __device__ __forceinline__
#define WP_PART(NAME, MOST)                                                                                             \
    __attribute__((diagnose_if(!__builtin_constant_p(NAME), "argument '" #NAME "' must be a constant integer", "error"))) \
    __attribute__((diagnose_if(NAME < 0 || NAME > MOST, "argument '" #NAME "' must be 0 to " #MOST, "error")))

WP_FN int wp_fp8_with_byte(int old, unsigned char code, int byte) {
    return int((unsigned(old) & ~(0xffu << 8 * byte)) | unsigned(code) << 8 * byte);
}

#define WP_CONVERSIONS(NAME, KIND)                                                                                      \
    WP_FN float __builtin_amdgcn_cvt_f32_##NAME(int codes, int byte) WP_PART(byte, 3) {                                 \
        return wp_fp8_decode((unsigned char)(codes >> 8 * byte), KIND);                                                 \
    }                                                                                                                   \
    WP_FN auto __builtin_amdgcn_cvt_pk_f32_##NAME(int codes, bool upper) WP_PART(upper, 1) {                            \
        typedef float Pair __attribute__((vector_size(8)));                                                             \
        const int two = codes >> (upper ? 16 : 0);                                                                      \
        return Pair{wp_fp8_decode((unsigned char)two, KIND), wp_fp8_decode((unsigned char)(two >> 8), KIND)};           \
    }                                                                                                                   \
    WP_FN int __builtin_amdgcn_cvt_pk_##NAME##_f32(float a, float b, int old, bool upper) WP_PART(upper, 1) {           \
        const int lower = wp_fp8_with_byte(old, wp_fp8_encode(a, __HIP_NOSAT, KIND), upper ? 2 : 0);                    \
        return wp_fp8_with_byte(lower, wp_fp8_encode(b, __HIP_NOSAT, KIND), upper ? 3 : 1);                             \
    }                                                                                                                   \
    WP_FN int __builtin_amdgcn_cvt_sr_##NAME##_f32(float a, int seed, int old, int byte) WP_PART(byte, 3) {             \
        return wp_fp8_with_byte(old, wp_fp8_encode_randomly(a, unsigned(seed), KIND), byte);                            \
    }
WP_CONVERSIONS(fp8, __HIP_E4M3_FNUZ)
WP_CONVERSIONS(bf8, __HIP_E5M2_FNUZ)
#undef WP_CONVERSIONS
#undef WP_PART
#undef WP_FN
