// OCML, the mathematical half of AMD's device libraries, by the names under which HIP's headers declare it.
#pragma once

#include <cmath>

#include "wavepool/math/directed_rounding.h"
#include "wavepool/math/fast_math.h"
#include "wavepool/math/float_math.h"
#include "wavepool/math/inverse_functions.h"

#define WP_FN extern "C" __device__ __forceinline__

typedef _Float16 __2f16 __attribute__((ext_vector_type(2)));
typedef short __2i16 __attribute__((ext_vector_type(2)));

// One argument; F and D are the function's names for float and double.
#define WP_OCML_1(NAME, F, D)                                     \
    WP_FN float __ocml_##NAME##_f32(float x) { return F(x); }     \
    WP_FN double __ocml_##NAME##_f64(double x) { return D(x); }
WP_OCML_1(acos, acosf, acos)
WP_OCML_1(acosh, acoshf, acosh)
WP_OCML_1(asin, asinf, asin)
WP_OCML_1(asinh, asinhf, asinh)
WP_OCML_1(atan, atanf, atan)
WP_OCML_1(atanh, atanhf, atanh)
WP_OCML_1(cbrt, cbrtf, cbrt)
WP_OCML_1(ceil, ceilf, ceil)
WP_OCML_1(cos, cosf, cos)
WP_OCML_1(cosh, coshf, cosh)
WP_OCML_1(cospi, cospif, cospi)
WP_OCML_1(erf, erff, erf)
WP_OCML_1(erfc, erfcf, erfc)
WP_OCML_1(erfcinv, erfcinvf, erfcinv)
WP_OCML_1(erfcx, erfcxf, erfcx)
WP_OCML_1(erfinv, erfinvf, erfinv)
WP_OCML_1(exp, expf, exp)
WP_OCML_1(exp10, exp10f, exp10)
WP_OCML_1(exp2, exp2f, exp2)
WP_OCML_1(expm1, expm1f, expm1)
WP_OCML_1(fabs, fabsf, fabs)
WP_OCML_1(floor, floorf, floor)
WP_OCML_1(i0, cyl_bessel_i0f, cyl_bessel_i0)
WP_OCML_1(i1, cyl_bessel_i1f, cyl_bessel_i1)
WP_OCML_1(j0, j0f, j0)
WP_OCML_1(j1, j1f, j1)
WP_OCML_1(lgamma, lgammaf, lgamma)
WP_OCML_1(log, logf, log)
WP_OCML_1(log10, log10f, log10)
WP_OCML_1(log1p, log1pf, log1p)
WP_OCML_1(log2, log2f, log2)
WP_OCML_1(logb, logbf, logb)
WP_OCML_1(ncdf, normcdff, normcdf)
WP_OCML_1(ncdfinv, normcdfinvf, normcdfinv)
WP_OCML_1(nearbyint, nearbyintf, nearbyint)
WP_OCML_1(rcbrt, rcbrtf, rcbrt)
WP_OCML_1(rint, rintf, rint)
WP_OCML_1(round, roundf, round)
WP_OCML_1(rsqrt, rsqrtf, rsqrt)
WP_OCML_1(sin, sinf, sin)
WP_OCML_1(sinh, sinhf, sinh)
WP_OCML_1(sinpi, sinpif, sinpi)
WP_OCML_1(sqrt, sqrtf, sqrt)
WP_OCML_1(tan, tanf, tan)
WP_OCML_1(tanh, tanhf, tanh)
WP_OCML_1(tgamma, tgammaf, tgamma)
WP_OCML_1(trunc, truncf, trunc)
WP_OCML_1(y0, y0f, y0)
WP_OCML_1(y1, y1f, y1)
#undef WP_OCML_1

// The hardware's own, which are inexact there.
#define WP_OCML_NATIVE(NAME, F) WP_FN float __ocml_native_##NAME##_f32(float x) { return F(x); }
WP_OCML_NATIVE(cos, __cosf)
WP_OCML_NATIVE(exp, __expf)
WP_OCML_NATIVE(exp10, __exp10f)
WP_OCML_NATIVE(log, __logf)
WP_OCML_NATIVE(log10, __log10f)
WP_OCML_NATIVE(log2, __log2f)
WP_OCML_NATIVE(sin, __sinf)
WP_OCML_NATIVE(sqrt, sqrtf)
#undef WP_OCML_NATIVE

#define WP_OCML_2(NAME, F, D)                                                   \
    WP_FN float __ocml_##NAME##_f32(float x, float y) { return F(x, y); }       \
    WP_FN double __ocml_##NAME##_f64(double x, double y) { return D(x, y); }
WP_OCML_2(atan2, atan2f, atan2)
WP_OCML_2(copysign, copysignf, copysign)
WP_OCML_2(fdim, fdimf, fdim)
WP_OCML_2(fmax, fmaxf, fmax)
WP_OCML_2(fmin, fminf, fmin)
WP_OCML_2(fmod, fmodf, fmod)
WP_OCML_2(hypot, hypotf, hypot)
WP_OCML_2(nextafter, nextafterf, nextafter)
WP_OCML_2(pow, powf, pow)
WP_OCML_2(remainder, remainderf, remainder)
WP_OCML_2(rhypot, rhypotf, rhypot)
#undef WP_OCML_2

// x * 2^y, where y is a number of the same type: NaN if it has a fraction.
template <class T> __device__ __forceinline__ T wp_scaled(T x, T y) {
    if (x != x || y != y || (std::isfinite(y) && std::rint(y) != y)) return T(NAN);
    if (y > T(20000)) return x * T(INFINITY);
    return y < T(-20000) ? x / T(INFINITY) : std::ldexp(x, int(y));
}

#define WP_OCML_REST(SUFFIX, T)                                                                                    \
    WP_FN T __ocml_fma_##SUFFIX(T x, T y, T z) { return std::fma(x, y, z); }                                       \
    WP_FN T __ocml_len3_##SUFFIX(T x, T y, T z) { return std::hypot(x, y, z); }                                    \
    WP_FN T __ocml_rlen3_##SUFFIX(T x, T y, T z) { return T(1) / std::hypot(x, y, z); }                            \
    WP_FN T __ocml_len4_##SUFFIX(T x, T y, T z, T w) { return std::hypot(std::hypot(x, y), std::hypot(z, w)); }    \
    WP_FN T __ocml_rlen4_##SUFFIX(T x, T y, T z, T w) { return T(1) / __ocml_len4_##SUFFIX(x, y, z, w); }          \
    WP_FN T __ocml_ldexp_##SUFFIX(T x, int y) { return std::ldexp(x, y); }                                         \
    WP_FN T __ocml_scalbn_##SUFFIX(T x, int y) { return std::ldexp(x, y); }                                        \
    WP_FN T __ocml_scalb_##SUFFIX(T x, T y) { return wp_scaled(x, y); }                                            \
    WP_FN T __ocml_pown_##SUFFIX(T x, int y) { return T(std::pow(x, y)); }                                         \
    WP_FN T __ocml_frexp_##SUFFIX(T x, int* exponent) { return std::frexp(x, exponent); }                          \
    WP_FN T __ocml_modf_##SUFFIX(T x, T* whole) { return std::modf(x, whole); }                                    \
    WP_FN T __ocml_remquo_##SUFFIX(T x, T y, int* quotient) { return std::remquo(x, y, quotient); }                \
    WP_FN T __ocml_sincos_##SUFFIX(T x, T* cosine) { return *cosine = std::cos(x), std::sin(x); }                  \
    WP_FN T __ocml_sincospi_##SUFFIX(T x, T* cosine) {                                                             \
        return *cosine = __ocml_cospi_##SUFFIX(x), __ocml_sinpi_##SUFFIX(x);                                       \
    }                                                                                                              \
    WP_FN int __ocml_ilogb_##SUFFIX(T x) { return std::ilogb(x); }                                                 \
    WP_FN int __ocml_isfinite_##SUFFIX(T x) { return __builtin_isfinite(x); }                                      \
    WP_FN int __ocml_isinf_##SUFFIX(T x) { return __builtin_isinf(x); }                                            \
    WP_FN int __ocml_isnan_##SUFFIX(T x) { return x != x; }                                                        \
    WP_FN int __ocml_signbit_##SUFFIX(T x) { return __builtin_signbit(x) != 0; }
WP_OCML_REST(f32, float)
WP_OCML_REST(f64, double)
#undef WP_OCML_REST

// Rounded to nearest (rte), down (rtn), up (rtp) and towards zero (rtz).
#define WP_OCML_ARITHMETIC(DIRECTION, SUFFIX)                                                                     \
    WP_FN float __ocml_add_##DIRECTION##_f32(float x, float y) { return __fadd_##SUFFIX(x, y); }                   \
    WP_FN float __ocml_sub_##DIRECTION##_f32(float x, float y) { return __fsub_##SUFFIX(x, y); }                   \
    WP_FN float __ocml_mul_##DIRECTION##_f32(float x, float y) { return __fmul_##SUFFIX(x, y); }                   \
    WP_FN float __ocml_div_##DIRECTION##_f32(float x, float y) { return __fdiv_##SUFFIX(x, y); }                   \
    WP_FN float __ocml_sqrt_##DIRECTION##_f32(float x) { return __fsqrt_##SUFFIX(x); }                             \
    WP_FN float __ocml_fma_##DIRECTION##_f32(float x, float y, float z) { return __fmaf_##SUFFIX(x, y, z); }       \
    WP_FN double __ocml_add_##DIRECTION##_f64(double x, double y) { return __dadd_##SUFFIX(x, y); }                \
    WP_FN double __ocml_sub_##DIRECTION##_f64(double x, double y) { return __dsub_##SUFFIX(x, y); }                \
    WP_FN double __ocml_mul_##DIRECTION##_f64(double x, double y) { return __dmul_##SUFFIX(x, y); }                \
    WP_FN double __ocml_div_##DIRECTION##_f64(double x, double y) { return __ddiv_##SUFFIX(x, y); }                \
    WP_FN double __ocml_sqrt_##DIRECTION##_f64(double x) { return __dsqrt_##SUFFIX(x); }                           \
    WP_FN double __ocml_fma_##DIRECTION##_f64(double x, double y, double z) { return __fma_##SUFFIX(x, y, z); }
WP_OCML_ARITHMETIC(rte, rn)
WP_OCML_ARITHMETIC(rtn, rd)
WP_OCML_ARITHMETIC(rtp, ru)
WP_OCML_ARITHMETIC(rtz, rz)
#undef WP_OCML_ARITHMETIC
#define WP_OCML_CONVERSION(DIRECTION, SUFFIX, D)                                                                  \
    WP_FN _Float16 __ocml_cvt##DIRECTION##_f16_f32(float x) { return wp_float16_rounded(x, D{}); }                 \
    WP_FN float __ocml_cvt##DIRECTION##_f32_f64(double x) { return __double2float_##SUFFIX(x); }                   \
    WP_FN float __ocml_cvt##DIRECTION##_f32_s32(int x) { return __int2float_##SUFFIX(x); }                         \
    WP_FN float __ocml_cvt##DIRECTION##_f32_u32(unsigned x) { return __uint2float_##SUFFIX(x); }                   \
    WP_FN float __ocml_cvt##DIRECTION##_f32_s64(long x) { return __ll2float_##SUFFIX(x); }                         \
    WP_FN float __ocml_cvt##DIRECTION##_f32_u64(unsigned long x) { return __ull2float_##SUFFIX(x); }               \
    WP_FN double __ocml_cvt##DIRECTION##_f64_s64(long x) { return __ll2double_##SUFFIX(x); }                       \
    WP_FN double __ocml_cvt##DIRECTION##_f64_u64(unsigned long x) { return __ull2double_##SUFFIX(x); }
WP_OCML_CONVERSION(rtn, rd, wp_down)
WP_OCML_CONVERSION(rtp, ru, wp_up)
WP_OCML_CONVERSION(rtz, rz, wp_to_zero)
#undef WP_OCML_CONVERSION

// Halves and pairs of them: in float, rounded once.
#define WP_OCML_HALF(NAME)                                                                                        \
    WP_FN _Float16 __ocml_##NAME##_f16(_Float16 x) { return _Float16(__ocml_##NAME##_f32(x)); }                    \
    WP_FN __2f16 __ocml_##NAME##_2f16(__2f16 x) { return {__ocml_##NAME##_f16(x.x), __ocml_##NAME##_f16(x.y)}; }
WP_OCML_HALF(ceil)
WP_OCML_HALF(cos)
WP_OCML_HALF(exp)
WP_OCML_HALF(exp10)
WP_OCML_HALF(exp2)
WP_OCML_HALF(fabs)
WP_OCML_HALF(floor)
WP_OCML_HALF(log)
WP_OCML_HALF(log10)
WP_OCML_HALF(log2)
WP_OCML_HALF(rint)
WP_OCML_HALF(rsqrt)
WP_OCML_HALF(sin)
WP_OCML_HALF(sqrt)
WP_OCML_HALF(trunc)
#undef WP_OCML_HALF
WP_FN _Float16 __ocml_fmax_f16(_Float16 x, _Float16 y) { return _Float16(fmaxf(x, y)); }
WP_FN _Float16 __ocml_fmin_f16(_Float16 x, _Float16 y) { return _Float16(fminf(x, y)); }
// Exact in double, but where the product is too small to change the third number's rounding.
WP_FN _Float16 __ocml_fma_f16(_Float16 x, _Float16 y, _Float16 z) { return _Float16(double(x) * double(y) + double(z)); }
WP_FN __2f16 __ocml_fma_2f16(__2f16 x, __2f16 y, __2f16 z) {
    return {__ocml_fma_f16(x.x, y.x, z.x), __ocml_fma_f16(x.y, y.y, z.y)};
}
WP_FN _Float16 __ocml_pown_f16(_Float16 x, int y) { return _Float16(__ocml_pown_f32(x, y)); }
WP_FN __2f16 __ocml_pown_2f16(__2f16 x, __2i16 y) { return {__ocml_pown_f16(x.x, y.x), __ocml_pown_f16(x.y, y.y)}; }
WP_FN int __ocml_isinf_f16(_Float16 x) { return __ocml_isinf_f32(x); }
WP_FN int __ocml_isnan_f16(_Float16 x) { return x != x; }
// All bits of a half that is one.
WP_FN __2i16 __ocml_isinf_2f16(__2f16 x) { return {short(-__ocml_isinf_f16(x.x)), short(-__ocml_isinf_f16(x.y))}; }
WP_FN __2i16 __ocml_isnan_2f16(__2f16 x) { return {short(-__ocml_isnan_f16(x.x)), short(-__ocml_isnan_f16(x.y))}; }
#undef WP_FN
