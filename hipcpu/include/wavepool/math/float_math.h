// Floating-point functions of device code beyond <cmath>: intrinsics, conversions, bit casts.
#pragma once

#include <cmath>
#include <limits>

#include "wavepool/math/fast_math.h"
#include "wavepool/vector_types.h"

#define WP_FN __host__ __device__ __forceinline__

WP_FN float __fdividef(float a, float b) { return a / b; }
WP_FN float fdividef(float a, float b) { return a / b; }
WP_FN float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
WP_FN float rsqrtf(float x) { return 1.0f / __builtin_sqrtf(x); }
WP_FN double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }
WP_FN float rsqrt(float x) { return rsqrtf(x); }
WP_FN float rcbrtf(float x) { return 1.0f / cbrtf(x); }
WP_FN double rcbrt(double x) { return 1.0 / cbrt(x); }
WP_FN float rhypotf(float x, float y) { return 1.0f / hypotf(x, y); }
WP_FN double rhypot(double x, double y) { return 1.0 / hypot(x, y); }
WP_FN float norm3df(float x, float y, float z) { return __builtin_sqrtf(x * x + y * y + z * z); }
WP_FN float rnorm3df(float x, float y, float z) { return 1.0f / norm3df(x, y, z); }
WP_FN float norm4df(float x, float y, float z, float w) { return __builtin_sqrtf(x * x + y * y + z * z + w * w); }
WP_FN float rnorm4df(float x, float y, float z, float w) { return 1.0f / norm4df(x, y, z, w); }
WP_FN double norm3d(double x, double y, double z) { return __builtin_sqrt(x * x + y * y + z * z); }
WP_FN double rnorm3d(double x, double y, double z) { return 1.0 / norm3d(x, y, z); }
WP_FN double norm4d(double x, double y, double z, double w) { return __builtin_sqrt(x * x + y * y + z * z + w * w); }
WP_FN double rnorm4d(double x, double y, double z, double w) { return 1.0 / norm4d(x, y, z, w); }
template <class T> WP_FN T wp_norm(int count, const T* values) {
    T sum = 0;
    for (int i = 0; i < count; ++i) sum += values[i] * values[i];
    return std::sqrt(sum);
}
WP_FN float normf(int count, const float* values) { return wp_norm(count, values); }
WP_FN float rnormf(int count, const float* values) { return 1.0f / wp_norm(count, values); }
WP_FN double norm(int count, const double* values) { return wp_norm(count, values); }
WP_FN double rnorm(int count, const double* values) { return 1.0 / wp_norm(count, values); }
WP_FN int __isnanf(float x) { return x != x; }
WP_FN int __isnand(double x) { return x != x; }
WP_FN int __isinff(float x) { return __builtin_isinf(x); }
WP_FN int __isinfd(double x) { return __builtin_isinf(x); }
WP_FN int __finitef(float x) { return __builtin_isfinite(x); }
WP_FN int __finite(double x) { return __builtin_isfinite(x); }
WP_FN float sinpif(float x) { return sinf(x * 3.14159265358979323846f); }
WP_FN float cospif(float x) { return cosf(x * 3.14159265358979323846f); }
WP_FN double sinpi(double x) { return sin(x * 3.14159265358979323846); }
WP_FN double cospi(double x) { return cos(x * 3.14159265358979323846); }
WP_FN void sincospif(float x, float* s, float* c) { *s = sinpif(x), *c = cospif(x); }
WP_FN void sincospi(double x, double* s, double* c) { *s = sinpi(x), *c = cospi(x); }
template <class T> WP_FN T wp_power(T x, int exponent) {
    T product = 1;
    for (unsigned left = exponent < 0 ? 0u - unsigned(exponent) : unsigned(exponent); left; left >>= 1, x *= x)
        if (left & 1) product *= x;
    return exponent < 0 ? T(1) / product : product;
}
WP_FN float powif(float x, int exponent) { return wp_power(x, exponent); }
WP_FN double powi(double x, int exponent) { return wp_power(x, exponent); }
WP_FN float normcdff(float x) { return 0.5f * erfcf(x * -0.70710678118654752440f); }
WP_FN double normcdf(double x) { return 0.5 * erfc(x * -0.70710678118654752440); }
WP_FN float erfcxf(float x) { return expf(x * x) * erfcf(x); }
WP_FN double erfcx(double x) { return exp(x * x) * erfc(x); }

#define WP_ROUNDED(SUFFIX)                                                                    \
    WP_FN float __fadd_##SUFFIX(float a, float b) { return a + b; }                           \
    WP_FN float __fsub_##SUFFIX(float a, float b) { return a - b; }                           \
    WP_FN float __fmul_##SUFFIX(float a, float b) { return a * b; }                           \
    WP_FN float __fdiv_##SUFFIX(float a, float b) { return a / b; }                           \
    WP_FN float __fmaf_##SUFFIX(float a, float b, float c) { return __builtin_fmaf(a, b, c); } \
    WP_FN float __frcp_##SUFFIX(float a) { return 1.0f / a; }                                 \
    WP_FN float __fsqrt_##SUFFIX(float a) { return __builtin_sqrtf(a); }                      \
    WP_FN double __dadd_##SUFFIX(double a, double b) { return a + b; }                        \
    WP_FN double __dsub_##SUFFIX(double a, double b) { return a - b; }                        \
    WP_FN double __dmul_##SUFFIX(double a, double b) { return a * b; }                        \
    WP_FN double __ddiv_##SUFFIX(double a, double b) { return a / b; }                        \
    WP_FN double __fma_##SUFFIX(double a, double b, double c) { return __builtin_fma(a, b, c); } \
    WP_FN double __drcp_##SUFFIX(double a) { return 1.0 / a; }                                \
    WP_FN double __dsqrt_##SUFFIX(double a) { return __builtin_sqrt(a); }
WP_ROUNDED(rn)
#undef WP_ROUNDED
WP_FN float __frsqrt_rn(float a) { return rsqrtf(a); }

#define WP_BITS(NAME, FROM, TO) \
    WP_FN TO NAME(FROM x) { return __builtin_bit_cast(TO, x); }
WP_BITS(__float_as_int, float, int)
WP_BITS(__float_as_uint, float, unsigned)
WP_BITS(__int_as_float, int, float)
WP_BITS(__uint_as_float, unsigned, float)
WP_BITS(__double_as_longlong, double, long long)
WP_BITS(__longlong_as_double, long long, double)
#undef WP_BITS
WP_FN int __double2hiint(double x) { return int(__double_as_longlong(x) >> 32); }
WP_FN int __double2loint(double x) { return int(__double_as_longlong(x)); }
WP_FN double __hiloint2double(int high, int low) {
    return __longlong_as_double((long long)((unsigned long long)(unsigned)high << 32 | (unsigned)low));
}

// Out-of-range values saturate and NaN becomes 0, as the GPU's conversions do.
template <class I, class F> WP_FN I wp_saturated(F x) {
    constexpr I low = std::numeric_limits<I>::min();
    if (!(x == x)) return 0;
    if (x <= F(low)) return low;
    if (x >= F(I(~low))) return I(~low);
    return I(x);
}
#define WP_TO_INTEGER(NAME, F, I)                                                              \
    WP_FN I NAME##_rz(F x) { return wp_saturated<I>(x); }                                      \
    WP_FN I NAME##_rn(F x) { return wp_saturated<I>(std::rint(x)); }                           \
    WP_FN I NAME##_ru(F x) { return wp_saturated<I>(std::ceil(x)); }                           \
    WP_FN I NAME##_rd(F x) { return wp_saturated<I>(std::floor(x)); }
WP_TO_INTEGER(__float2int, float, int)
WP_TO_INTEGER(__float2uint, float, unsigned)
WP_TO_INTEGER(__float2ll, float, long long)
WP_TO_INTEGER(__float2ull, float, unsigned long long)
WP_TO_INTEGER(__double2int, double, int)
WP_TO_INTEGER(__double2uint, double, unsigned)
WP_TO_INTEGER(__double2ll, double, long long)
WP_TO_INTEGER(__double2ull, double, unsigned long long)
#undef WP_TO_INTEGER
WP_FN float __int2float_rn(int x) { return float(x); }
WP_FN float __uint2float_rn(unsigned x) { return float(x); }
WP_FN float __ll2float_rn(long long x) { return float(x); }
WP_FN float __ull2float_rn(unsigned long long x) { return float(x); }
WP_FN double __int2double_rn(int x) { return x; }
WP_FN double __uint2double_rn(unsigned x) { return x; }
WP_FN double __ll2double_rn(long long x) { return double(x); }
WP_FN double __ull2double_rn(unsigned long long x) { return double(x); }
WP_FN float __double2float_rn(double x) { return float(x); }
#undef WP_FN
