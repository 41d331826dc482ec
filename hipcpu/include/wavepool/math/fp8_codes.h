// The codes of 8-bit floating-point numbers: from float, and to float.
#pragma once

#include <cmath>

#include "wavepool/qualifiers.h"

#define WP_FN __host__ __device__ __forceinline__

enum __hip_saturation_t { __HIP_NOSAT = 0, __HIP_SATFINITE = 1 };
enum __hip_fp8_interpretation_t { __HIP_E4M3_FNUZ = 0, __HIP_E5M2_FNUZ = 1, __HIP_E4M3 = 2, __HIP_E5M2 = 3 };

// `largest` is the code of the largest number, `overflow` what numbers beyond it become that do not saturate.
struct wp_fp8_format {
    int mantissa_bits, bias;
    unsigned largest, overflow, nan;
    bool fnuz;
};

WP_FN constexpr wp_fp8_format wp_fp8_format_of(__hip_fp8_interpretation_t kind) {
    return kind == __HIP_E4M3        ? wp_fp8_format{3, 7, 0x7e, 0x7f, 0x7f, false}
           : kind == __HIP_E5M2      ? wp_fp8_format{2, 15, 0x7b, 0x7c, 0x7e, false}
           : kind == __HIP_E4M3_FNUZ ? wp_fp8_format{3, 8, 0x7f, 0x80, 0x80, true}
                                     : wp_fp8_format{2, 16, 0x7f, 0x80, 0x80, true};
}

WP_FN float wp_fp8_power_of_two(int exponent) { return __builtin_bit_cast(float, unsigned(exponent + 127) << 23); }

// A code of a size with its sign. Beyond the largest number it saturates, also for an infinity, or overflows.
WP_FN unsigned char wp_fp8_limited(unsigned code, unsigned sign, __hip_saturation_t saturation, wp_fp8_format format) {
    if (code > format.largest && saturation == __HIP_SATFINITE) code = format.largest;
    else if (code > format.largest) return (unsigned char)(format.fnuz ? format.overflow : sign | format.overflow);
    return (unsigned char)(format.fnuz && code == 0 ? 0 : sign | code);
}

// To the nearest number, ties to the even code. Below the smallest normal number, codes count steps of the smallest.
WP_FN unsigned char wp_fp8_encode(float value, __hip_saturation_t saturation, __hip_fp8_interpretation_t kind) {
    const wp_fp8_format format = wp_fp8_format_of(kind);
    const unsigned bits = __builtin_bit_cast(unsigned, value), sign = bits >> 24 & 0x80, size = bits & 0x7fffffff;
    if (size > 0x7f800000) return (unsigned char)(format.fnuz ? format.nan : sign | format.nan);
    unsigned code;
    if (size < unsigned(128 - format.bias) << 23) {
        const int steps = format.bias - 1 + format.mantissa_bits;
        code = unsigned(rintf(__builtin_bit_cast(float, size) * wp_fp8_power_of_two(steps)));
    } else {
        const int dropped = 23 - format.mantissa_bits;
        const unsigned rounded = size + (1u << (dropped - 1)) - 1 + (size >> dropped & 1);
        code = (rounded >> dropped) - (unsigned(127 - format.bias) << format.mantissa_bits);
    }
    return wp_fp8_limited(code, sign, saturation, format);
}

// Down, or up if the seed's upper bits are at least as much as is missing there. The seed has a bit for each bit of the
// mantissa that is dropped; smaller numbers drop more.
WP_FN unsigned char wp_fp8_encode_randomly(float value, unsigned seed, __hip_fp8_interpretation_t kind) {
    const wp_fp8_format format = wp_fp8_format_of(kind);
    const unsigned bits = __builtin_bit_cast(unsigned, value), sign = bits >> 24 & 0x80, size = bits & 0x7fffffff;
    if (size > 0x7f800000) return (unsigned char)format.nan;
    const int dropped = 23 - format.mantissa_bits;
    unsigned code;
    if (size < unsigned(128 - format.bias) << 23) {
        const int steps = format.bias - 1 + format.mantissa_bits;
        const float exact = __builtin_bit_cast(float, size) * wp_fp8_power_of_two(steps);
        code = unsigned(double(exact) + wp_fp8_power_of_two(-dropped) * double(seed >> (32 - dropped)));
    } else {
        const unsigned rounded = size + (seed >> (32 - dropped));
        code = (rounded >> dropped) - (unsigned(127 - format.bias) << format.mantissa_bits);
    }
    return wp_fp8_limited(code, sign, __HIP_NOSAT, format);
}

WP_FN float wp_fp8_decode(unsigned char code, __hip_fp8_interpretation_t kind) {
    const wp_fp8_format format = wp_fp8_format_of(kind);
    const unsigned size = code & 0x7f, sign = unsigned(code & 0x80) << 24;
    const float nan = __builtin_bit_cast(float, 0x7fc00000u);
    if (format.fnuz ? code == format.nan : size > format.overflow || (size == format.nan && kind == __HIP_E4M3))
        return nan;
    if (kind == __HIP_E5M2 && size == format.overflow) return __builtin_bit_cast(float, sign | 0x7f800000u);
    const unsigned normal = size << (23 - format.mantissa_bits);
    const float value = size >> format.mantissa_bits
                            ? __builtin_bit_cast(float, normal + (unsigned(127 - format.bias) << 23))
                            : float(size) * wp_fp8_power_of_two(1 - format.bias - format.mantissa_bits);
    return __builtin_bit_cast(float, __builtin_bit_cast(unsigned, value) | sign);
}
#undef WP_FN
