// Bit and integer functions of device code, and min and max of mixed types.
#pragma once

#include <type_traits>

#include "wavepool/vector_types.h"

#define WP_FN __host__ __device__ __forceinline__

WP_FN int __popc(unsigned x) { return __builtin_popcount(x); }
WP_FN int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
WP_FN int __clz(int x) { return x == 0 ? 32 : __builtin_clz((unsigned)x); }
WP_FN int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll((unsigned long long)x); }
template <class T> WP_FN int __ffs(T x) { return sizeof(T) > 4 ? __builtin_ffsll(x) : __builtin_ffs(x); }
WP_FN int __ffsll(unsigned long long x) { return __builtin_ffsll(x); }
WP_FN unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
WP_FN unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }

WP_FN int __mul24(int a, int b) { return ((a << 8) >> 8) * ((b << 8) >> 8); }
WP_FN unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
WP_FN int __mulhi(int a, int b) { return int(((long long)a * b) >> 32); }
WP_FN unsigned __umulhi(unsigned a, unsigned b) { return unsigned(((unsigned long long)a * b) >> 32); }
WP_FN long long __mul64hi(long long a, long long b) { return (long long)(((__int128)a * b) >> 64); }
WP_FN unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)(((unsigned __int128)a * b) >> 64);
}
WP_FN int __hadd(int a, int b) { return int(((long long)a + b) >> 1); }
WP_FN int __rhadd(int a, int b) { return int(((long long)a + b + 1) >> 1); }
WP_FN unsigned __uhadd(unsigned a, unsigned b) { return unsigned(((unsigned long long)a + b) >> 1); }
WP_FN unsigned __urhadd(unsigned a, unsigned b) { return unsigned(((unsigned long long)a + b + 1) >> 1); }
WP_FN unsigned __sad(int a, int b, unsigned c) { return (a > b ? unsigned(a) - unsigned(b) : unsigned(b) - unsigned(a)) + c; }
WP_FN unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a > b ? a - b : b - a) + c; }

WP_FN unsigned __byte_perm(unsigned low, unsigned high, unsigned selector) {
    unsigned long long bytes = (unsigned long long)high << 32 | low;
    unsigned result = 0;
    for (int i = 0; i < 4; ++i) result |= unsigned(bytes >> 8 * (selector >> 4 * i & 7) & 0xff) << 8 * i;
    return result;
}
WP_FN unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    return unsigned(((unsigned long long)high << 32 | low) << (shift & 31) >> 32);
}
WP_FN unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    return unsigned(((unsigned long long)high << 32 | low) >> (shift & 31));
}
// `width` bits from `offset` on, taken out or put in.
WP_FN unsigned long long __bitextract_u64(unsigned long long x, unsigned offset, unsigned width) {
    return width == 0 ? 0 : x >> (offset & 63) & (width >= 64 ? ~0ull : (1ull << width) - 1);
}
WP_FN unsigned __bitextract_u32(unsigned x, unsigned offset, unsigned width) {
    return unsigned(__bitextract_u64(x, offset & 31, width));
}
WP_FN unsigned long long __bitinsert_u64(unsigned long long into, unsigned long long bits, unsigned offset, unsigned width) {
    unsigned long long mask = (width >= 64 ? ~0ull : (1ull << width) - 1) << (offset & 63);
    return (into & ~mask) | (bits << (offset & 63) & mask);
}
WP_FN unsigned __bitinsert_u32(unsigned into, unsigned bits, unsigned offset, unsigned width) {
    return unsigned(__bitinsert_u64(into, bits, offset & 31, width));
}

WP_FN int __dp4a(int a, int b, int c) {
    for (int i = 0; i < 4; ++i) c += (signed char)(a >> 8 * i) * (signed char)(b >> 8 * i);
    return c;
}
WP_FN unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
    for (int i = 0; i < 4; ++i) c += (a >> 8 * i & 0xff) * (b >> 8 * i & 0xff);
    return c;
}
WP_FN int amd_mixed_dot(char4 a, char4 b, int c, bool) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w + c; }

#define WP_MIN_MAX(T)                                                 \
    WP_FN constexpr T min(T a, T b) { return b < a ? b : a; }         \
    WP_FN constexpr T max(T a, T b) { return a < b ? b : a; }
WP_MIN_MAX(int)
WP_MIN_MAX(unsigned)
WP_MIN_MAX(long)
WP_MIN_MAX(unsigned long)
WP_MIN_MAX(long long)
WP_MIN_MAX(unsigned long long)
#undef WP_MIN_MAX
WP_FN float min(float a, float b) { return __builtin_fminf(a, b); }
WP_FN float max(float a, float b) { return __builtin_fmaxf(a, b); }
WP_FN double min(double a, double b) { return __builtin_fmin(a, b); }
WP_FN double max(double a, double b) { return __builtin_fmax(a, b); }

WP_FN unsigned umin(unsigned a, unsigned b) { return min(a, b); }
WP_FN unsigned umax(unsigned a, unsigned b) { return max(a, b); }

template <class A, class B>
using wp_mixed = std::enable_if_t<wp_is_number<A> && wp_is_number<B> &&
                                      !std::is_same<A, B>::value,
                                  typename std::common_type<A, B>::type>;
template <class A, class B> WP_FN constexpr wp_mixed<A, B> min(A a, B b) {
    return min(static_cast<wp_mixed<A, B>>(a), static_cast<wp_mixed<A, B>>(b));
}
template <class A, class B> WP_FN constexpr wp_mixed<A, B> max(A a, B b) {
    return max(static_cast<wp_mixed<A, B>>(a), static_cast<wp_mixed<A, B>>(b));
}
#undef WP_FN
