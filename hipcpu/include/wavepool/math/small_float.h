// What the 16-bit floating-point types have in common: arithmetic in float, rounded once, and the h-functions.
#pragma once

#include <cmath>
#include <type_traits>

#include "wavepool/vector_types.h"

#define WP_FN __host__ __device__ __forceinline__

template <class T> struct wp_is_small_float : std::false_type {};
template <class T> using wp_if_small_float = std::enable_if_t<wp_is_small_float<T>::value, int>;
// float with double gives double, float with an integer stays small: `x * 2`, `x * 0.5f` and `x * 0.5` all compile.
template <class H, class S>
using wp_small_mixed =
    std::enable_if_t<wp_is_small_float<H>::value && wp_is_number<S>,
                     std::conditional_t<__is_integral(S), H,
                                        std::conditional_t<std::is_same<S, double>::value, double, float>>>;

#define WP_ARITHMETIC(OP)                                                                                   \
    template <class H, wp_if_small_float<H> = 0> WP_FN H operator OP(H a, H b) {                            \
        return H(float(a) OP float(b));                                                                     \
    }                                                                                                       \
    template <class H, class S> WP_FN wp_small_mixed<H, S> operator OP(H a, S b) {                          \
        return wp_small_mixed<H, S>(float(a) OP b);                                                         \
    }                                                                                                       \
    template <class S, class H> WP_FN wp_small_mixed<H, S> operator OP(S a, H b) {                          \
        return wp_small_mixed<H, S>(a OP float(b));                                                         \
    }                                                                                                       \
    template <class H, wp_if_small_float<H> = 0> WP_FN H& operator OP##=(H& a, H b) { return a = a OP b; }  \
    template <class H, class S> WP_FN std::enable_if_t<wp_is_small_float<H>::value && wp_is_number<S>, H&> \
    operator OP##=(H& a, S b) {                                                                             \
        return a = H(float(a) OP b);                                                                        \
    }
WP_ARITHMETIC(+)
WP_ARITHMETIC(-)
WP_ARITHMETIC(*)
WP_ARITHMETIC(/)
#undef WP_ARITHMETIC

#define WP_COMPARISON(OP)                                                                               \
    template <class H, wp_if_small_float<H> = 0> WP_FN bool operator OP(H a, H b) {                     \
        return float(a) OP float(b);                                                                    \
    }                                                                                                   \
    template <class H, class S>                                                                         \
    WP_FN std::enable_if_t<wp_is_small_float<H>::value && wp_is_number<S>, bool>           \
    operator OP(H a, S b) {                                                                             \
        return float(a) OP b;                                                                           \
    }                                                                                                   \
    template <class S, class H>                                                                         \
    WP_FN std::enable_if_t<wp_is_small_float<H>::value && wp_is_number<S>, bool>           \
    operator OP(S a, H b) {                                                                             \
        return a OP float(b);                                                                           \
    }
WP_COMPARISON(==)
WP_COMPARISON(!=)
WP_COMPARISON(<)
WP_COMPARISON(<=)
WP_COMPARISON(>)
WP_COMPARISON(>=)
#undef WP_COMPARISON

template <class H, wp_if_small_float<H> = 0> WP_FN H operator-(H a) { return H(-float(a)); }
template <class H, wp_if_small_float<H> = 0> WP_FN H operator+(H a) { return a; }
template <class H, wp_if_small_float<H> = 0> WP_FN H& operator++(H& a) { return a = H(float(a) + 1.0f); }
template <class H, wp_if_small_float<H> = 0> WP_FN H& operator--(H& a) { return a = H(float(a) - 1.0f); }

#define WP_H1(NAME, EXPRESSION) \
    template <class H, wp_if_small_float<H> = 0> WP_FN H NAME(H h) { float x = float(h); return H(EXPRESSION); }
WP_H1(__hneg, -x)
WP_H1(__habs, fabsf(x))
WP_H1(hexp, expf(x))
WP_H1(hexp2, exp2f(x))
WP_H1(hexp10, exp10f(x))
WP_H1(hlog, logf(x))
WP_H1(hlog2, log2f(x))
WP_H1(hlog10, log10f(x))
WP_H1(hsqrt, sqrtf(x))
WP_H1(hrsqrt, 1.0f / sqrtf(x))
WP_H1(hrcp, 1.0f / x)
WP_H1(hsin, sinf(x))
WP_H1(hcos, cosf(x))
WP_H1(htanh, tanhf(x))
WP_H1(hfloor, floorf(x))
WP_H1(hceil, ceilf(x))
WP_H1(htrunc, truncf(x))
WP_H1(hrint, rintf(x))
#undef WP_H1

#define WP_H2(NAME, TYPE, EXPRESSION)                                             \
    template <class H, wp_if_small_float<H> = 0> WP_FN TYPE NAME(H a, H b) {      \
        float x = float(a), y = float(b);                                         \
        return TYPE(EXPRESSION);                                                  \
    }
WP_H2(__hadd, H, x + y)
WP_H2(__hsub, H, x - y)
WP_H2(__hmul, H, x * y)
WP_H2(__hdiv, H, x / y)
WP_H2(__hadd_rn, H, x + y)
WP_H2(__hsub_rn, H, x - y)
WP_H2(__hmul_rn, H, x * y)
WP_H2(__hmax, H, fmaxf(x, y))
WP_H2(__hmin, H, fminf(x, y))
WP_H2(__heq, bool, x == y)
WP_H2(__hne, bool, x != y)
WP_H2(__hlt, bool, x < y)
WP_H2(__hle, bool, x <= y)
WP_H2(__hgt, bool, x > y)
WP_H2(__hge, bool, x >= y)
#undef WP_H2
template <class H, wp_if_small_float<H> = 0> WP_FN H __hfma(H a, H b, H c) {
    return H(fmaf(float(a), float(b), float(c)));
}
template <class H, wp_if_small_float<H> = 0> WP_FN bool __hisnan(H a) { return float(a) != float(a); }
template <class H, wp_if_small_float<H> = 0> WP_FN int __hisinf(H a) {
    return fabsf(float(a)) == INFINITY ? (float(a) > 0 ? 1 : -1) : 0;
}
template <class H, wp_if_small_float<H> = 0> WP_FN H max(H a, H b) { return __hmax(a, b); }
template <class H, wp_if_small_float<H> = 0> WP_FN H min(H a, H b) { return __hmin(a, b); }

// Pairs: V is __half2 or __hip_bfloat162, whose members are x and y.
template <class V> struct wp_is_small_pair : std::false_type {};
template <class V> using wp_if_small_pair = std::enable_if_t<wp_is_small_pair<V>::value, int>;

#define WP_V1(NAME, ELEMENT) \
    template <class V, wp_if_small_pair<V> = 0> WP_FN V NAME(V a) { return V{ELEMENT(a.x), ELEMENT(a.y)}; }
WP_V1(__hneg2, __hneg)
WP_V1(__habs2, __habs)
WP_V1(h2exp, hexp)
WP_V1(h2log, hlog)
WP_V1(h2sqrt, hsqrt)
WP_V1(h2rsqrt, hrsqrt)
WP_V1(h2rcp, hrcp)
#undef WP_V1
#define WP_V2(NAME, ELEMENT)                                                  \
    template <class V, wp_if_small_pair<V> = 0> WP_FN V NAME(V a, V b) {      \
        return V{ELEMENT(a.x, b.x), ELEMENT(a.y, b.y)};                       \
    }
WP_V2(__hadd2, __hadd)
WP_V2(__hsub2, __hsub)
WP_V2(__hmul2, __hmul)
WP_V2(__h2div, __hdiv)
WP_V2(h2div, __hdiv)
WP_V2(__hmax2, __hmax)
WP_V2(__hmin2, __hmin)
WP_V2(__hadd2_rn, __hadd)
WP_V2(__hsub2_rn, __hsub)
WP_V2(__hmul2_rn, __hmul)
WP_V2(operator+, __hadd)
WP_V2(operator-, __hsub)
WP_V2(operator*, __hmul)
WP_V2(operator/, __hdiv)
#undef WP_V2
#define WP_V2_ASSIGN(OP) \
    template <class V, wp_if_small_pair<V> = 0> WP_FN V& operator OP##=(V& a, V b) { return a = a OP b; }
WP_V2_ASSIGN(+)
WP_V2_ASSIGN(-)
WP_V2_ASSIGN(*)
WP_V2_ASSIGN(/)
#undef WP_V2_ASSIGN
template <class V, wp_if_small_pair<V> = 0> WP_FN V __hfma2(V a, V b, V c) {
    return V{__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
#undef WP_FN

#include "wavepool/math/small_float_pairs.h"

#if defined(__HIP__)
#include "wavepool/threads/atomics.h"
template <class H, wp_if_small_float<H> = 0> __device__ __forceinline__ H atomicAdd(H* p, H v) {
    auto* bits = reinterpret_cast<unsigned short*>(p);
    unsigned short old = wp_atomic_update(bits, [v](unsigned short seen) {
        return __builtin_bit_cast(unsigned short, H(float(__builtin_bit_cast(H, seen)) + float(v)));
    });
    return __builtin_bit_cast(H, old);
}
template <class V, wp_if_small_pair<V> = 0> __device__ __forceinline__ V atomicAdd(V* p, V v) {
    auto* bits = reinterpret_cast<unsigned*>(p);
    unsigned old = wp_atomic_update(bits, [v](unsigned seen) {
        return __builtin_bit_cast(unsigned, __builtin_bit_cast(V, seen) + v);
    });
    return __builtin_bit_cast(V, old);
}
template <class V, wp_if_small_pair<V> = 0> __device__ __forceinline__ V unsafeAtomicAdd(V* p, V v) {
    return atomicAdd(p, v);
}
#endif
