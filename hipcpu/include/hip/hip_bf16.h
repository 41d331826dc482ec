// bfloat16: __hip_bfloat16, hip_bfloat16, __hip_bfloat162.
#pragma once

#include "hip/hip_runtime.h"
#include "wavepool/math/small_float.h"

#define WP_FN __host__ __device__ __forceinline__

// The upper half of a float, rounded to nearest even; NaN keeps its sign and stays quiet.
WP_FN constexpr unsigned short wp_bfloat16_bits(float value) {
    unsigned bits = __builtin_bit_cast(unsigned, value);
    if ((bits & 0x7fffffff) > 0x7f800000) return (unsigned short)(bits >> 16 | 0x40);
    return (unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

struct __hip_bfloat16_raw {
    unsigned short x;
};

struct __hip_bfloat162_raw {
    unsigned short x, y;
};

struct __hip_bfloat16 {
    unsigned short data;
    __hip_bfloat16() = default;
    WP_FN constexpr __hip_bfloat16(float value) : data(wp_bfloat16_bits(value)) {}
    WP_FN constexpr __hip_bfloat16(double value) : data(wp_bfloat16_bits(float(value))) {}
    template <class I, std::enable_if_t<std::is_integral<I>::value, int> = 0>
    WP_FN constexpr __hip_bfloat16(I value) : data(wp_bfloat16_bits(float(value))) {}
    WP_FN constexpr __hip_bfloat16(__hip_bfloat16_raw raw) : data(raw.x) {}
    WP_FN constexpr operator float() const { return __builtin_bit_cast(float, unsigned(data) << 16); }
    WP_FN constexpr operator __hip_bfloat16_raw() const { return {data}; }
    WP_FN explicit constexpr operator double() const { return float(*this); }
    WP_FN explicit constexpr operator bool() const { return float(*this) != 0.0f; }
    template <class I, std::enable_if_t<std::is_integral<I>::value && !std::is_same<I, bool>::value, int> = 0>
    WP_FN explicit constexpr operator I() const { return I(float(*this)); }
    static WP_FN __hip_bfloat16 round_to_bfloat16(float value) { return value; }
};
typedef __hip_bfloat16 hip_bfloat16;
template <> struct wp_is_small_float<__hip_bfloat16> : std::true_type {};

struct alignas(4) __hip_bfloat162 {
    __hip_bfloat16 x, y;
    __hip_bfloat162() = default;
    WP_FN constexpr __hip_bfloat162(__hip_bfloat16 first, __hip_bfloat16 second) : x(first), y(second) {}
    WP_FN constexpr __hip_bfloat162(__hip_bfloat162_raw raw)
        : x(__hip_bfloat16_raw{raw.x}), y(__hip_bfloat16_raw{raw.y}) {}
    WP_FN operator __hip_bfloat162_raw() const { return {x.data, y.data}; }
};
template <> struct wp_is_small_pair<__hip_bfloat162> : std::true_type {};

WP_FN __hip_bfloat16 __float2bfloat16(float x) { return x; }
WP_FN __hip_bfloat16 __float2bfloat16_rn(float x) { return x; }
WP_FN __hip_bfloat16 __double2bfloat16(double x) { return x; }
WP_FN float __bfloat162float(__hip_bfloat16 x) { return x; }
WP_FN __hip_bfloat16 __ushort_as_bfloat16(unsigned short x) { return __hip_bfloat16_raw{x}; }
WP_FN unsigned short __bfloat16_as_ushort(__hip_bfloat16 x) { return x.data; }
WP_FN __hip_bfloat16 __int2bfloat16_rn(int x) { return x; }
WP_FN int __bfloat162int_rn(__hip_bfloat16 x) { return int(rintf(float(x))); }

WP_FN __hip_bfloat162 make_bfloat162(__hip_bfloat16 x, __hip_bfloat16 y) { return {x, y}; }
WP_FN __hip_bfloat162 __halves2bfloat162(__hip_bfloat16 x, __hip_bfloat16 y) { return {x, y}; }
WP_FN __hip_bfloat162 __bfloat162bfloat162(__hip_bfloat16 x) { return {x, x}; }
WP_FN __hip_bfloat162 __float2bfloat162_rn(float x) { return {x, x}; }
WP_FN __hip_bfloat162 __floats2bfloat162_rn(float x, float y) { return {x, y}; }
WP_FN __hip_bfloat162 __float22bfloat162_rn(float2 v) { return {v.x, v.y}; }
WP_FN float2 __bfloat1622float2(__hip_bfloat162 v) { return {float(v.x), float(v.y)}; }
WP_FN __hip_bfloat16 __low2bfloat16(__hip_bfloat162 v) { return v.x; }
WP_FN __hip_bfloat16 __high2bfloat16(__hip_bfloat162 v) { return v.y; }
WP_FN float __low2float(__hip_bfloat162 v) { return v.x; }
WP_FN float __high2float(__hip_bfloat162 v) { return v.y; }

// Dropping the lower bits rounds towards zero.
WP_FN __hip_bfloat16 __float2bfloat16_rz(float x) {
    return __ushort_as_bfloat16((unsigned short)(__builtin_bit_cast(unsigned, x) >> 16 | (x != x ? 0x40 : 0)));
}
WP_FN short __bfloat16_as_short(__hip_bfloat16 x) { return short(x.data); }
WP_FN __hip_bfloat16 __short_as_bfloat16(short x) { return __hip_bfloat16_raw{(unsigned short)x}; }
#if defined(__HIP__)
WP_FN int __bfloat162int_rz(__hip_bfloat16 x) { return wp_saturated<int>(float(x)); }
#endif
WP_FN __hip_bfloat16 __uint2bfloat16_rn(unsigned x) { return x; }
WP_FN __hip_bfloat162 __low2bfloat162(__hip_bfloat162 v) { return {v.x, v.x}; }
WP_FN __hip_bfloat162 __high2bfloat162(__hip_bfloat162 v) { return {v.y, v.y}; }
WP_FN __hip_bfloat162 __lowhigh2highlow(__hip_bfloat162 v) { return {v.y, v.x}; }
WP_FN __hip_bfloat162 __lows2bfloat162(__hip_bfloat162 a, __hip_bfloat162 b) { return {a.x, b.x}; }
WP_FN __hip_bfloat162 __highs2bfloat162(__hip_bfloat162 a, __hip_bfloat162 b) { return {a.y, b.y}; }
#define HIPRT_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7f80)
#define HIPRT_NAN_BF16 __ushort_as_bfloat16((unsigned short)0x7fff)
#define HIPRT_MAX_NORMAL_BF16 __ushort_as_bfloat16((unsigned short)0x7f7f)
#define HIPRT_ONE_BF16 __ushort_as_bfloat16((unsigned short)0x3f80)
#define HIPRT_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x0000)
#undef WP_FN
