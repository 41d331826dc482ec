// IEEE half precision: __half, half, __half2.
#pragma once

#include "hip/hip_runtime.h"
#include "wavepool/math/small_float.h"

#define WP_FN __host__ __device__ __forceinline__

struct __half_raw {
    union {
        _Float16 data;
        unsigned short x;
    };
};
struct __half2_raw {
    __half_raw x, y;
};

struct __half {
    _Float16 data;
    __half() = default;
    WP_FN constexpr __half(_Float16 value) : data(value) {}
    WP_FN constexpr __half(float value) : data(_Float16(value)) {}
    WP_FN constexpr __half(double value) : data(_Float16(value)) {}
    template <class I, std::enable_if_t<std::is_integral<I>::value, int> = 0>
    WP_FN constexpr __half(I value) : data(_Float16(value)) {}
    WP_FN __half(__half_raw raw) : data(raw.data) {}
    WP_FN constexpr operator float() const { return float(data); }
    WP_FN operator __half_raw() const { return {data}; }
    WP_FN explicit constexpr operator _Float16() const { return data; }
    WP_FN explicit constexpr operator double() const { return double(data); }
    WP_FN explicit constexpr operator bool() const { return data != _Float16(0); }
    template <class I, std::enable_if_t<std::is_integral<I>::value && !std::is_same<I, bool>::value, int> = 0>
    WP_FN explicit constexpr operator I() const { return I(data); }
};
typedef __half half;
typedef _Float16 float16;
template <> struct wp_is_small_float<__half> : std::true_type {};

struct alignas(4) __half2 {
    __half x, y;
    __half2() = default;
    WP_FN constexpr __half2(__half first, __half second) : x(first), y(second) {}
    WP_FN __half2(__half2_raw raw) : x(raw.x), y(raw.y) {}
    WP_FN operator __half2_raw() const { return {x, y}; }
};
typedef __half2 half2;
template <> struct wp_is_small_pair<__half2> : std::true_type {};
WP_FN __half2 make_half2(__half x, __half y) { return {x, y}; }

WP_FN __half __float2half(float x) { return x; }
WP_FN __half __float2half_rn(float x) { return x; }
WP_FN __half __double2half(double x) { return x; }
WP_FN float __half2float(__half x) { return x; }
WP_FN __half __ushort_as_half(unsigned short x) { return __builtin_bit_cast(__half, x); }
WP_FN __half __short_as_half(short x) { return __builtin_bit_cast(__half, x); }
WP_FN unsigned short __half_as_ushort(__half x) { return __builtin_bit_cast(unsigned short, x); }
WP_FN short __half_as_short(__half x) { return __builtin_bit_cast(short, x); }

WP_FN __half2 __halves2half2(__half x, __half y) { return {x, y}; }
WP_FN __half2 __half2half2(__half x) { return {x, x}; }
WP_FN __half2 __float2half2_rn(float x) { return {x, x}; }
WP_FN __half2 __floats2half2_rn(float x, float y) { return {x, y}; }
WP_FN __half2 __float22half2_rn(float2 v) { return {v.x, v.y}; }
WP_FN float2 __half22float2(__half2 v) { return {float(v.x), float(v.y)}; }
WP_FN __half __low2half(__half2 v) { return v.x; }
WP_FN __half __high2half(__half2 v) { return v.y; }
WP_FN float __low2float(__half2 v) { return v.x; }
WP_FN float __high2float(__half2 v) { return v.y; }
WP_FN __half2 __low2half2(__half2 v) { return {v.x, v.x}; }
WP_FN __half2 __high2half2(__half2 v) { return {v.y, v.y}; }
WP_FN __half2 __lowhigh2highlow(__half2 v) { return {v.y, v.x}; }
WP_FN __half2 __lows2half2(__half2 a, __half2 b) { return {a.x, b.x}; }
WP_FN __half2 __highs2half2(__half2 a, __half2 b) { return {a.y, b.y}; }

#if defined(__HIP__)
// To integers, with the rounding that the name's end says; out-of-range values saturate and NaN becomes 0.
#define WP_HALF_TO_INTEGER(WORD, I)                                                                   \
    WP_FN I __half2##WORD##_rn(__half x) { return wp_saturated<I>(std::rint(float(x))); }             \
    WP_FN I __half2##WORD##_rz(__half x) { return wp_saturated<I>(float(x)); }                        \
    WP_FN I __half2##WORD##_rd(__half x) { return wp_saturated<I>(std::floor(float(x))); }            \
    WP_FN I __half2##WORD##_ru(__half x) { return wp_saturated<I>(std::ceil(float(x))); }             \
    WP_FN __half __##WORD##2half_rn(I x) { return x; }
WP_HALF_TO_INTEGER(int, int)
WP_HALF_TO_INTEGER(uint, unsigned)
WP_HALF_TO_INTEGER(short, short)
WP_HALF_TO_INTEGER(ushort, unsigned short)
WP_HALF_TO_INTEGER(ll, long long)
WP_HALF_TO_INTEGER(ull, unsigned long long)
#undef WP_HALF_TO_INTEGER
#define WP_HALF_ROUNDED(WORD, T)                                                                      \
    WP_FN __half __##WORD##2half_ru(T x) { return wp_float16_rounded(x, wp_up{}); }                   \
    WP_FN __half __##WORD##2half_rd(T x) { return wp_float16_rounded(x, wp_down{}); }                 \
    WP_FN __half __##WORD##2half_rz(T x) { return x < 0 ? __##WORD##2half_ru(x) : __##WORD##2half_rd(x); }
WP_HALF_ROUNDED(float, float)
WP_HALF_ROUNDED(int, int)
WP_HALF_ROUNDED(uint, unsigned)
WP_HALF_ROUNDED(short, short)
WP_HALF_ROUNDED(ushort, unsigned short)
WP_HALF_ROUNDED(ll, long long)
WP_HALF_ROUNDED(ull, unsigned long long)
#undef WP_HALF_ROUNDED
#endif

#define HIPRT_INF_FP16 __ushort_as_half((unsigned short)0x7c00)
#define HIPRT_NAN_FP16 __ushort_as_half((unsigned short)0x7fff)
#define HIPRT_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7bff)
#define HIPRT_MIN_DENORM_FP16 __ushort_as_half((unsigned short)0x0001)
#define HIPRT_NEG_ZERO_FP16 __ushort_as_half((unsigned short)0x8000)
#define HIPRT_ONE_FP16 __ushort_as_half((unsigned short)0x3c00)
#define HIPRT_ZERO_FP16 __ushort_as_half((unsigned short)0x0000)
#undef WP_FN
