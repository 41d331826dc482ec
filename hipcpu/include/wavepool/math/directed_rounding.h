// Arithmetic and conversions rounded up (ru), down (rd) and towards zero (rz). The result to nearest is moved by one
// step where the exact error of it, which fused multiply-adds and Knuth's two-sum give, points the other way.
#pragma once

#include <cmath>
#include <type_traits>

#include "wavepool/qualifiers.h"

#define WP_FN __host__ __device__ __forceinline__

struct wp_up {};
struct wp_down {};
struct wp_to_zero {};

// `nearest` + `error` is the exact value; only the sign of `error` counts.
template <class T, class E> WP_FN T wp_directed(T nearest, E error, wp_up) {
    return error > 0 ? T(std::nextafter(nearest, T(INFINITY))) : nearest;
}
template <class T, class E> WP_FN T wp_directed(T nearest, E error, wp_down) {
    return error < 0 ? T(std::nextafter(nearest, T(-INFINITY))) : nearest;
}
template <class T, class E> WP_FN T wp_directed(T nearest, E error, wp_to_zero) {
    return nearest > 0 ? wp_directed(nearest, error, wp_down{}) : wp_directed(nearest, error, wp_up{});
}

template <class T, class D> WP_FN T wp_add(T a, T b, D direction) {
    T sum = a + b, other = sum - a;
    return wp_directed(sum, (a - (sum - other)) + (b - other), direction);
}
template <class T, class D> WP_FN T wp_multiply(T a, T b, D direction) {
    T product = a * b;
    return wp_directed(product, std::fma(a, b, -product), direction);
}
template <class T, class D> WP_FN T wp_divide(T a, T b, D direction) {
    T quotient = a / b, rest = std::fma(-quotient, b, a);
    return wp_directed(quotient, b < 0 ? -rest : rest, direction);
}
template <class T, class D> WP_FN T wp_root(T a, D direction) {
    T root = std::sqrt(a);
    return wp_directed(root, std::fma(-root, root, a), direction);
}
// The product of two floats is exact in double.
template <class D> WP_FN float wp_multiply_add(float a, float b, float c, D direction) {
    double product = double(a) * b, addend = c, sum = product + addend, other = sum - product;
    float nearest = float(sum);
    return wp_directed(nearest, (sum - nearest) + ((product - (sum - other)) + (addend - other)), direction);
}
// The error of a fused multiply-add in two parts, of which the first has its sign: Boldo and Muller, "Exact and
// approximated error of the FMA" (IEEE Transactions on Computers 60, 2011), algorithm ErrFmaNearest.
template <class D> WP_FN double wp_multiply_add(double a, double b, double c, D direction) {
    double nearest = std::fma(a, b, c), product = a * b, low = std::fma(a, b, -product);
    double sum = c + low, other = sum - c, rest = (c - (sum - other)) + (low - other);
    double high = product + sum, back = high - product, lost = (product - (high - back)) + (sum - back);
    double error = (high - nearest) + lost;
    return wp_directed(nearest, error + rest, direction);
}
template <class F, class T, class D> WP_FN F wp_narrowed(T value, D direction) {
    F nearest = F(value);
    if constexpr (std::is_integral<T>::value) return wp_directed(nearest, __int128(value) - __int128(nearest), direction);
    else return wp_directed(nearest, value - T(nearest), direction);
}

// `x` is a float, or an integer of up to 64 bits, whose difference to a half is exact in 128.
template <class T, class D> WP_FN _Float16 wp_float16_rounded(T x, D direction) {
    const _Float16 nearest = _Float16(x);
    const unsigned short bits = __builtin_bit_cast(unsigned short, nearest);
    float error;
    if constexpr (!std::is_integral<T>::value) error = x - float(nearest);
    else if ((bits & 0x7fff) == 0x7c00) error = x > T(0) ? -1.0f : 1.0f;
    else error = float(__int128(x) - __int128(float(nearest)));
    const bool negative = bits >> 15;
    if (wp_directed(negative ? -1.0f : 1.0f, error, direction) == (negative ? -1.0f : 1.0f)) return nearest;
    if ((bits & 0x7fff) == 0) return __builtin_bit_cast(_Float16, (unsigned short)(error > 0 ? 1 : 0x8001));
    return __builtin_bit_cast(_Float16, (unsigned short)((error > 0) != negative ? bits + 1 : bits - 1));
}

#define WP_DIRECTED(SUFFIX, D)                                                                        \
    WP_FN float __fadd_##SUFFIX(float a, float b) { return wp_add(a, b, D{}); }                       \
    WP_FN float __fsub_##SUFFIX(float a, float b) { return wp_add(a, -b, D{}); }                      \
    WP_FN float __fmul_##SUFFIX(float a, float b) { return wp_multiply(a, b, D{}); }                  \
    WP_FN float __fdiv_##SUFFIX(float a, float b) { return wp_divide(a, b, D{}); }                    \
    WP_FN float __frcp_##SUFFIX(float a) { return wp_divide(1.0f, a, D{}); }                          \
    WP_FN float __fsqrt_##SUFFIX(float a) { return wp_root(a, D{}); }                                 \
    WP_FN float __fmaf_##SUFFIX(float a, float b, float c) { return wp_multiply_add(a, b, c, D{}); }  \
    WP_FN double __fma_##SUFFIX(double a, double b, double c) { return wp_multiply_add(a, b, c, D{}); } \
    WP_FN double __dadd_##SUFFIX(double a, double b) { return wp_add(a, b, D{}); }                    \
    WP_FN double __dsub_##SUFFIX(double a, double b) { return wp_add(a, -b, D{}); }                   \
    WP_FN double __dmul_##SUFFIX(double a, double b) { return wp_multiply(a, b, D{}); }               \
    WP_FN double __ddiv_##SUFFIX(double a, double b) { return wp_divide(a, b, D{}); }                 \
    WP_FN double __drcp_##SUFFIX(double a) { return wp_divide(1.0, a, D{}); }                         \
    WP_FN double __dsqrt_##SUFFIX(double a) { return wp_root(a, D{}); }                               \
    WP_FN float __double2float_##SUFFIX(double x) { return wp_narrowed<float>(x, D{}); }              \
    WP_FN float __int2float_##SUFFIX(int x) { return wp_narrowed<float>(x, D{}); }                    \
    WP_FN float __uint2float_##SUFFIX(unsigned x) { return wp_narrowed<float>(x, D{}); }              \
    WP_FN float __ll2float_##SUFFIX(long long x) { return wp_narrowed<float>(x, D{}); }               \
    WP_FN float __ull2float_##SUFFIX(unsigned long long x) { return wp_narrowed<float>(x, D{}); }     \
    WP_FN double __ll2double_##SUFFIX(long long x) { return wp_narrowed<double>(x, D{}); }            \
    WP_FN double __ull2double_##SUFFIX(unsigned long long x) { return wp_narrowed<double>(x, D{}); }
WP_DIRECTED(ru, wp_up)
WP_DIRECTED(rd, wp_down)
WP_DIRECTED(rz, wp_to_zero)
#undef WP_DIRECTED
#undef WP_FN
