// Arithmetic of single AMD instructions: transcendental functions, bits, packed and dot products, sums of differences.
// Approximate instructions are exact here, or rounded once more where they compute in halves.
#pragma once

#include <cmath>

#include "wavepool/qualifiers.h"

#define WP_FN __device__ __forceinline__

typedef _Float16 wp_half2 __attribute__((ext_vector_type(2)));
typedef __fp16 wp_storage_half2 __attribute__((ext_vector_type(2)));
typedef __bf16 wp_bfloat2 __attribute__((ext_vector_type(2)));
typedef short wp_short2 __attribute__((ext_vector_type(2)));
typedef unsigned short wp_ushort2 __attribute__((ext_vector_type(2)));
typedef unsigned wp_uint4 __attribute__((ext_vector_type(4)));

template <class T> WP_FN T wp_limited(T value, T least, T most) { return value < least ? least : value > most ? most : value; }

// Angles are in turns; beyond 256 turns the instruction answers as for 0.
WP_FN float wp_sine(float turns) { return fabsf(turns) > 256 ? 0 : sinf(turns * 6.28318530717958647692f); }
WP_FN float wp_cosine(float turns) { return fabsf(turns) > 256 ? 1 : cosf(turns * 6.28318530717958647692f); }
// Below 1 even where the difference rounds to it.
WP_FN float wp_fraction(float x) { float part = x - floorf(x); return part >= 1 ? 0x1.fffffep-1f : part; }
WP_FN double wp_fraction(double x) { double part = x - floor(x); return part >= 1 ? 0x1.fffffffffffffp-1 : part; }
WP_FN _Float16 wp_fraction(_Float16 x) {
    _Float16 part = x - _Float16(floorf(x));
    return part >= 1 ? _Float16(0x1.ffcp-1f) : part;
}
// The lesser of all, if one is not a number.
template <class T> WP_FN T wp_median(T a, T b, T c) {
    if (a != a || b != b || c != c) return T(fmin(fmin(a, b), c));
    return T(fmax(fmin(a, b), fmin(fmax(a, b), c)));
}

// 0, infinities and what is no number have the exponent 0 and themselves as the mantissa.
template <class T> WP_FN bool wp_has_exponent(T x) { return x != 0 && !__builtin_isinf(x) && x == x; }
template <class T> WP_FN int wp_exponent(T x) { int e = 0; if (wp_has_exponent(x)) (void)frexp(double(x), &e); return e; }
template <class T> WP_FN T wp_mantissa(T x) { int e; return wp_has_exponent(x) ? T(frexp(double(x), &e)) : x; }

// The bits of a class mask, lowest first: signalling and quiet NaN, -infinity, -normal, -denormal, -0, and up again.
template <class T> WP_FN bool wp_is_class(T x, int mask) {
    int found = __builtin_isfpclass(x, 0x001) ? 0 : x != x ? 1 : __builtin_isinf(x) ? 9 : x == 0 ? 6 : __builtin_isnormal(x) ? 8 : 7;
    if (found > 5 && __builtin_signbit(x)) found = 11 - found;
    return mask >> found & 1;
}

WP_FN float __builtin_amdgcn_rcpf(float x) { return 1.0f / x; }
WP_FN double __builtin_amdgcn_rcp(double x) { return 1.0 / x; }
WP_FN _Float16 __builtin_amdgcn_rcph(_Float16 x) { return _Float16(1.0f / float(x)); }
WP_FN float __builtin_amdgcn_rsqf(float x) { return 1.0f / __builtin_sqrtf(x); }
WP_FN double __builtin_amdgcn_rsq(double x) { return 1.0 / __builtin_sqrt(x); }
WP_FN _Float16 __builtin_amdgcn_rsqh(_Float16 x) { return _Float16(1.0f / __builtin_sqrtf(float(x))); }
WP_FN float __builtin_amdgcn_rsq_clampf(float x) { return fminf(__builtin_amdgcn_rsqf(x), 0x1.fffffep127f); }
WP_FN double __builtin_amdgcn_rsq_clamp(double x) { return fmin(__builtin_amdgcn_rsq(x), 0x1.fffffffffffffp1023); }
WP_FN float __builtin_amdgcn_sqrtf(float x) { return __builtin_sqrtf(x); }
WP_FN double __builtin_amdgcn_sqrt(double x) { return __builtin_sqrt(x); }
WP_FN _Float16 __builtin_amdgcn_sqrth(_Float16 x) { return _Float16(__builtin_sqrtf(float(x))); }
WP_FN float __builtin_amdgcn_exp2f(float x) { return exp2f(x); }
WP_FN float __builtin_amdgcn_logf(float x) { return log2f(x); }
WP_FN float __builtin_amdgcn_sinf(float x) { return wp_sine(x); }
WP_FN float __builtin_amdgcn_cosf(float x) { return wp_cosine(x); }
WP_FN _Float16 __builtin_amdgcn_sinh(_Float16 x) { return _Float16(wp_sine(float(x))); }
WP_FN _Float16 __builtin_amdgcn_cosh(_Float16 x) { return _Float16(wp_cosine(float(x))); }
WP_FN float __builtin_amdgcn_fractf(float x) { return wp_fraction(x); }
WP_FN double __builtin_amdgcn_fract(double x) { return wp_fraction(x); }
WP_FN _Float16 __builtin_amdgcn_fracth(_Float16 x) { return wp_fraction(x); }
WP_FN float __builtin_amdgcn_ldexpf(float x, int e) { return ldexpf(x, e); }
WP_FN double __builtin_amdgcn_ldexp(double x, int e) { return ldexp(x, e); }
// The exponent of the half form has 16 bits.
WP_FN _Float16 __builtin_amdgcn_ldexph(_Float16 x, int e) { return _Float16(ldexpf(float(x), short(e))); }
WP_FN float __builtin_amdgcn_frexp_mantf(float x) { return wp_mantissa(x); }
WP_FN double __builtin_amdgcn_frexp_mant(double x) { return wp_mantissa(x); }
WP_FN _Float16 __builtin_amdgcn_frexp_manth(_Float16 x) { return _Float16(wp_mantissa(float(x))); }
WP_FN int __builtin_amdgcn_frexp_expf(float x) { return wp_exponent(x); }
WP_FN int __builtin_amdgcn_frexp_exp(double x) { return wp_exponent(x); }
WP_FN short __builtin_amdgcn_frexp_exph(_Float16 x) { return short(wp_exponent(float(x))); }
WP_FN float __builtin_amdgcn_fmed3f(float a, float b, float c) { return wp_median(a, b, c); }
WP_FN _Float16 __builtin_amdgcn_fmed3h(_Float16 a, _Float16 b, _Float16 c) {
    return _Float16(wp_median(float(a), float(b), float(c)));
}
WP_FN bool __builtin_amdgcn_classf(float x, int mask) { return wp_is_class(x, mask); }
WP_FN bool __builtin_amdgcn_class(double x, int mask) { return wp_is_class(x, mask); }
WP_FN bool __builtin_amdgcn_classh(_Float16 x, int mask) { return wp_is_class(x, mask); }

// The steps of a division by Newton's method: scaled operands, the last multiply-add, and the special cases.
template <class T> WP_FN T wp_division_scaled(T numerator, T denominator, bool of_numerator, bool* scaled) {
    constexpr int far = sizeof(T) == 8 ? 768 : 96, near = sizeof(T) == 8 ? 53 : 23, bias = sizeof(T) == 8 ? 1022 : 126;
    constexpr int step = sizeof(T) == 8 ? 128 : 64;
    const T x = of_numerator ? numerator : denominator;
    const auto tiny = [](T value) { return value != 0 && fabs(value) < (sizeof(T) == 8 ? T(0x1p-1022) : T(0x1p-126f)); };
    const auto up = [x] { return T(ldexp(double(x), step)); };
    *scaled = false;
    if (numerator == 0 || denominator == 0) return T(__builtin_nan(""));
    const T inverse = T(1) / denominator, quotient = numerator / denominator;
    if (wp_exponent(numerator) - wp_exponent(denominator) >= far) {
        *scaled = true;
        return of_numerator ? x : up();
    }
    if (tiny(denominator)) return up();
    if (tiny(inverse) && tiny(quotient)) {
        *scaled = true;
        return of_numerator ? x : up();
    }
    if (tiny(inverse)) return T(ldexp(double(x), -step));
    if (tiny(quotient)) {
        *scaled = true;
        return of_numerator ? up() : x;
    }
    return wp_exponent(numerator) + bias <= near ? up() : x;
}
template <class T> WP_FN T wp_division_fixed(T quotient, T denominator, T numerator) {
    if (numerator != numerator) return numerator;
    if (denominator != denominator) return denominator;
    const bool both_zero = numerator == 0 && denominator == 0;
    if (both_zero || (__builtin_isinf(numerator) && __builtin_isinf(denominator))) return T(-__builtin_nan(""));
    const T sign = __builtin_signbit(numerator) != __builtin_signbit(denominator) ? T(-1) : T(1);
    if (denominator == 0 || __builtin_isinf(numerator)) return sign * T(__builtin_inf());
    if (numerator == 0 || __builtin_isinf(denominator)) return sign * T(0);
    const T size = quotient < 0 ? -quotient : quotient;
    return sign * size;
}
WP_FN float __builtin_amdgcn_div_scalef(float x, float y, bool of_x, bool* scaled) { return wp_division_scaled(x, y, of_x, scaled); }
WP_FN double __builtin_amdgcn_div_scale(double x, double y, bool of_x, bool* scaled) { return wp_division_scaled(x, y, of_x, scaled); }
// Back by as much as the operands were scaled: up if the quotient is at least 2, and else down.
WP_FN float __builtin_amdgcn_div_fmasf(float a, float b, float c, bool scaled) {
    return ldexpf(fmaf(a, b, c), !scaled ? 0 : fabsf(c) >= 2 ? 64 : -64);
}
WP_FN double __builtin_amdgcn_div_fmas(double a, double b, double c, bool scaled) {
    return ldexp(fma(a, b, c), !scaled ? 0 : fabs(c) >= 2 ? 128 : -128);
}
WP_FN float __builtin_amdgcn_div_fixupf(float q, float y, float x) { return wp_division_fixed(q, y, x); }
WP_FN double __builtin_amdgcn_div_fixup(double q, double y, double x) { return wp_division_fixed(q, y, x); }
WP_FN _Float16 __builtin_amdgcn_div_fixuph(_Float16 q, _Float16 y, _Float16 x) { return _Float16(wp_division_fixed(float(q), float(y), float(x))); }

// Towards 0: what a half can hold of a float, whose excess bits are dropped; numbers that are too large become 65504.
WP_FN _Float16 wp_half_towards_zero(float x) {
    _Float16 nearest = _Float16(x);
    if (!(fabsf(float(nearest)) > fabsf(x))) return nearest;
    return __builtin_bit_cast(_Float16, static_cast<unsigned short>(__builtin_bit_cast(unsigned short, nearest) - 1));
}
WP_FN wp_storage_half2 __builtin_amdgcn_cvt_pkrtz(float low, float high) {
    return __builtin_bit_cast(wp_storage_half2, wp_half2{wp_half_towards_zero(low), wp_half_towards_zero(high)});
}
template <class T> WP_FN T wp_rounded(float x, float least, float most) { return x != x ? T(0) : T(rintf(wp_limited(x, least, most))); }
WP_FN wp_short2 __builtin_amdgcn_cvt_pknorm_i16(float x, float y) {
    return {wp_rounded<short>(x * 32767, -32767, 32767), wp_rounded<short>(y * 32767, -32767, 32767)};
}
WP_FN wp_ushort2 __builtin_amdgcn_cvt_pknorm_u16(float x, float y) {
    return {wp_rounded<unsigned short>(x * 65535, 0, 65535), wp_rounded<unsigned short>(y * 65535, 0, 65535)};
}
WP_FN wp_short2 __builtin_amdgcn_cvt_pk_i16(int x, int y) {
    return {short(wp_limited(x, -32768, 32767)), short(wp_limited(y, -32768, 32767))};
}
WP_FN wp_ushort2 __builtin_amdgcn_cvt_pk_u16(unsigned x, unsigned y) {
    return {static_cast<unsigned short>(wp_limited(x, 0u, 65535u)), static_cast<unsigned short>(wp_limited(y, 0u, 65535u))};
}
// Towards 0, as other conversions to integers: AMD's document does not say.
WP_FN unsigned __builtin_amdgcn_cvt_pk_u8_f32(float x, unsigned byte, unsigned others) {
    unsigned shift = 8 * (byte & 3), value = x != x ? 0 : unsigned(wp_limited(x, 0.0f, 255.0f));
    return (others & ~(0xffu << shift)) | value << shift;
}
WP_FN float __builtin_amdgcn_cvt_off_f32_i4(int x) { return float(int(x & 15) - 8) / 16; }

WP_FN unsigned __builtin_amdgcn_ubfe(unsigned x, unsigned offset, unsigned width) {
    return x >> (offset & 31) & ((1u << (width & 31)) - 1);
}
WP_FN unsigned __builtin_amdgcn_sbfe(unsigned x, unsigned offset, unsigned width) {
    unsigned field = __builtin_amdgcn_ubfe(x, offset, width), sign = (width & 31) ? 1u << ((width & 31) - 1) : 0;
    // As many of the field's bits as the value has: the rest are copies of its own sign.
    if ((offset & 31) + (width & 31) > 32) return unsigned(int(x) >> (offset & 31));
    return (field ^ sign) - sign;
}
WP_FN unsigned __builtin_amdgcn_alignbit(unsigned high, unsigned low, unsigned shift) {
    return unsigned(((unsigned long long)high << 32 | low) >> (shift & 31));
}
WP_FN unsigned __builtin_amdgcn_alignbyte(unsigned high, unsigned low, unsigned shift) {
    return unsigned(((unsigned long long)high << 32 | low) >> 8 * (shift & 3));
}
// Selectors: 0 to 7 a byte, the low operand's first; 8 to 11 the sign of bytes 1, 3, 5, 7 in all bits; 12 is 0.
WP_FN unsigned __builtin_amdgcn_perm(unsigned high, unsigned low, unsigned selector) {
    unsigned long long bytes = (unsigned long long)high << 32 | low;
    unsigned result = 0;
    for (int i = 0; i < 4; ++i) {
        unsigned wanted = selector >> 8 * i & 0xff;
        unsigned byte = wanted < 8    ? unsigned(bytes >> 8 * wanted) & 0xff
                        : wanted < 12 ? (bytes >> (16 * (wanted - 8) + 15) & 1) * 0xff
                        : wanted == 12 ? 0 : 0xff;
        result |= byte << 8 * i;
    }
    return result;
}
// The mean of each byte, rounded up where the third operand's byte is odd.
WP_FN unsigned __builtin_amdgcn_lerp(unsigned a, unsigned b, unsigned up) {
    unsigned result = 0;
    for (int i = 0; i < 32; i += 8) result |= ((a >> i & 0xff) + (b >> i & 0xff) + (up >> i & 1)) >> 1 << i;
    return result;
}

// Sums of absolute differences of four bytes; the masked ones leave out a reference byte of 0.
template <bool kMasked> WP_FN unsigned wp_byte_differences(unsigned a, unsigned reference) {
    unsigned sum = 0;
    for (int i = 0; i < 32; i += 8) {
        int x = a >> i & 0xff, y = reference >> i & 0xff;
        if (!kMasked || y) sum += x < y ? y - x : x - y;
    }
    return sum;
}
WP_FN unsigned __builtin_amdgcn_sad_u8(unsigned a, unsigned b, unsigned sum) { return sum + wp_byte_differences<false>(a, b); }
WP_FN unsigned __builtin_amdgcn_msad_u8(unsigned a, unsigned b, unsigned sum) { return sum + wp_byte_differences<true>(a, b); }
WP_FN unsigned __builtin_amdgcn_sad_hi_u8(unsigned a, unsigned b, unsigned sum) {
    return sum + (wp_byte_differences<false>(a, b) << 16);
}
WP_FN unsigned __builtin_amdgcn_sad_u16(unsigned a, unsigned b, unsigned sum) {
    int low = int(a & 0xffff) - int(b & 0xffff), high = int(a >> 16) - int(b >> 16);
    return sum + unsigned(low < 0 ? -low : low) + unsigned(high < 0 ? -high : high);
}
// At each of the first four bytes of `a`, a sum of its own.
template <bool kMasked> WP_FN unsigned long wp_four_differences(unsigned long a, unsigned b, unsigned long sums) {
    unsigned long result = 0;
    for (int i = 0; i < 4; ++i) {
        unsigned long sum = (sums >> 16 * i) + wp_byte_differences<kMasked>(unsigned(a >> 8 * i), b);
        result |= (sum & 0xffff) << 16 * i;
    }
    return result;
}
WP_FN unsigned long __builtin_amdgcn_qsad_pk_u16_u8(unsigned long a, unsigned b, unsigned long sums) {
    return wp_four_differences<false>(a, b, sums);
}
WP_FN unsigned long __builtin_amdgcn_mqsad_pk_u16_u8(unsigned long a, unsigned b, unsigned long sums) {
    return wp_four_differences<true>(a, b, sums);
}
WP_FN wp_uint4 __builtin_amdgcn_mqsad_u32_u8(unsigned long a, unsigned b, wp_uint4 sums) {
    for (int i = 0; i < 4; ++i) sums[i] += wp_byte_differences<true>(unsigned(a >> 8 * i), b);
    return sums;
}

// Dot products, kept within the result's range if `clamp` is set.
template <class T> WP_FN T wp_dot_result(long long sum, bool clamp) {
    constexpr long long least = T(-1) < 0 ? -0x80000000ll : 0, most = T(-1) < 0 ? 0x7fffffffll : 0xffffffffll;
    return T(clamp ? wp_limited(sum, least, most) : sum);
}
template <class T, int kBits> WP_FN T wp_dot(unsigned a, unsigned b, T c, bool clamp) {
    long long sum = c;
    for (int i = 0; i < 32; i += kBits) {
        if constexpr (T(-1) < 0) sum += (int(a << (32 - kBits - i)) >> (32 - kBits)) * (long long)(int(b << (32 - kBits - i)) >> (32 - kBits));
        else sum += (unsigned long long)(a << (32 - kBits - i) >> (32 - kBits)) * (b << (32 - kBits - i) >> (32 - kBits));
    }
    return wp_dot_result<T>(sum, clamp);
}
WP_FN float __builtin_amdgcn_fdot2(wp_half2 a, wp_half2 b, float c, bool clamp) {
    float sum = fmaf(float(a[1]), float(b[1]), fmaf(float(a[0]), float(b[0]), c));
    return clamp ? fminf(fmaxf(sum, 0.0f), 1.0f) : sum;
}
WP_FN int __builtin_amdgcn_sdot2(wp_short2 a, wp_short2 b, int c, bool clamp) {
    return wp_dot<int, 16>(__builtin_bit_cast(unsigned, a), __builtin_bit_cast(unsigned, b), c, clamp);
}
WP_FN unsigned __builtin_amdgcn_udot2(wp_ushort2 a, wp_ushort2 b, unsigned c, bool clamp) {
    return wp_dot<unsigned, 16>(__builtin_bit_cast(unsigned, a), __builtin_bit_cast(unsigned, b), c, clamp);
}
WP_FN int __builtin_amdgcn_sdot4(int a, int b, int c, bool clamp) { return wp_dot<int, 8>(a, b, c, clamp); }
WP_FN unsigned __builtin_amdgcn_udot4(unsigned a, unsigned b, unsigned c, bool clamp) { return wp_dot<unsigned, 8>(a, b, c, clamp); }
WP_FN int __builtin_amdgcn_sdot8(int a, int b, int c, bool clamp) { return wp_dot<int, 4>(a, b, c, clamp); }
WP_FN unsigned __builtin_amdgcn_udot8(unsigned a, unsigned b, unsigned c, bool clamp) { return wp_dot<unsigned, 4>(a, b, c, clamp); }
#undef WP_FN
