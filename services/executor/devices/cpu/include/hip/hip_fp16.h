// IEEE half precision: __half, half, __half2.
#pragma once

#include "hip/hip_runtime.h"
#include "wavepool/small_float.h"

#define WP_FN __host__ __device__ __forceinline__

struct __half_raw {
    unsigned short x;
};

struct __half {
    _Float16 data;
    __half() = default;
    WP_FN constexpr __half(_Float16 value) : data(value) {}
    WP_FN constexpr __half(float value) : data(_Float16(value)) {}
    WP_FN constexpr __half(double value) : data(_Float16(value)) {}
    template <class I, std::enable_if_t<std::is_integral<I>::value, int> = 0>
    WP_FN constexpr __half(I value) : data(_Float16(value)) {}
    WP_FN __half(__half_raw raw) : data(__builtin_bit_cast(_Float16, raw.x)) {}
    WP_FN constexpr operator float() const { return float(data); }
    WP_FN operator __half_raw() const { return {__builtin_bit_cast(unsigned short, data)}; }
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
WP_FN __half __int2half_rn(int x) { return x; }
WP_FN __half __uint2half_rn(unsigned x) { return x; }
WP_FN __half __short2half_rn(short x) { return x; }
WP_FN __half __ushort2half_rn(unsigned short x) { return x; }
WP_FN int __half2int_rn(__half x) { return int(rintf(float(x))); }
WP_FN int __half2int_rz(__half x) { return int(float(x)); }
WP_FN unsigned __half2uint_rn(__half x) { return unsigned(rintf(float(x))); }

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
#undef WP_FN
