// CUDA's operations on the 2 halfwords or 4 bytes of a word, and integer functions that only CUDA has.
#pragma once

#include "wavepool/math/integer_math.h"

#define WP_FN __host__ __device__ __forceinline__

// `combine` takes and gives numbers of type T; what it gives is cut to T's width.
template <class T, class F> WP_FN unsigned wp_packed(unsigned a, unsigned b, F combine) {
    constexpr int bits = sizeof(T) * 8;
    constexpr unsigned mask = (1u << bits) - 1;
    unsigned result = 0;
    for (int at = 0; at < 32; at += bits) {
        int x = T(a >> at & mask), y = T(b >> at & mask);
        result |= (unsigned(combine(x, y)) & mask) << at;
    }
    return result;
}
template <class T> WP_FN int wp_bounded(int x) {
    constexpr int high = int(T(~T(0)) > T(0) ? T(~T(0)) : T((1u << (sizeof(T) * 8 - 1)) - 1));
    constexpr int low = T(~T(0)) > T(0) ? 0 : -high - 1;
    return x > high ? high : x < low ? low : x;
}

#define WP_PACKED(NAME, T, EXPRESSION)               \
    WP_FN unsigned NAME(unsigned a, unsigned b) {    \
        return wp_packed<T>(a, b, [](int x, int y) -> int { return EXPRESSION; }); \
    }
#define WP_PACKED_WIDTH(N, SIGNED, UNSIGNED)                                 \
    WP_PACKED(__vadd##N, UNSIGNED, x + y)                                    \
    WP_PACKED(__vsub##N, UNSIGNED, x - y)                                    \
    WP_PACKED(__vaddss##N, SIGNED, wp_bounded<SIGNED>(x + y))                \
    WP_PACKED(__vaddus##N, UNSIGNED, wp_bounded<UNSIGNED>(x + y))            \
    WP_PACKED(__vsubss##N, SIGNED, wp_bounded<SIGNED>(x - y))                \
    WP_PACKED(__vsubus##N, UNSIGNED, wp_bounded<UNSIGNED>(x - y))            \
    WP_PACKED(__vmaxs##N, SIGNED, x > y ? x : y)                             \
    WP_PACKED(__vmaxu##N, UNSIGNED, x > y ? x : y)                           \
    WP_PACKED(__vmins##N, SIGNED, x < y ? x : y)                             \
    WP_PACKED(__vminu##N, UNSIGNED, x < y ? x : y)                           \
    WP_PACKED(__vabsdiffs##N, SIGNED, x > y ? x - y : y - x)                 \
    WP_PACKED(__vabsdiffu##N, UNSIGNED, x > y ? x - y : y - x)               \
    WP_PACKED(__vavgu##N, UNSIGNED, (x + y + 1) >> 1)                        \
    WP_PACKED(__vcmpeq##N, UNSIGNED, x == y ? -1 : 0)                        \
    WP_PACKED(__vcmpne##N, UNSIGNED, x != y ? -1 : 0)                        \
    WP_PACKED(__vcmpgts##N, SIGNED, x > y ? -1 : 0)                          \
    WP_PACKED(__vcmpgtu##N, UNSIGNED, x > y ? -1 : 0)                        \
    WP_PACKED(__vseteq##N, UNSIGNED, x == y)                                 \
    WP_FN unsigned __vneg##N(unsigned a) { return __vsub##N(0, a); }         \
    WP_FN unsigned __vabs##N(unsigned a) { return __vabsdiffs##N(a, 0); }
WP_PACKED_WIDTH(2, short, unsigned short)
WP_PACKED_WIDTH(4, signed char, unsigned char)
#undef WP_PACKED_WIDTH
#undef WP_PACKED

WP_FN int __dp4a(char4 a, char4 b, int c) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w + c; }
WP_FN unsigned __dp4a(uchar4 a, uchar4 b, unsigned c) { return c + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
WP_FN int __dp2a_lo(int a, int b, int c) { return c + short(a) * (signed char)b + (a >> 16) * (signed char)(b >> 8); }
WP_FN int __dp2a_hi(int a, int b, int c) { return __dp2a_lo(a, b >> 16, c); }

WP_FN unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
    return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
WP_FN unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
    return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}
// The place of the `offset`th set bit from `base` on (backwards where it is negative), or -1.
template <class M> WP_FN int wp_nth_set(M mask, unsigned base, int offset) {
    constexpr int bits = 8 * sizeof(M);
    if (offset == 0) return mask >> (base & (bits - 1)) & 1 ? int(base) : -1;
    int step = offset > 0 ? 1 : -1, left = offset > 0 ? offset : -offset;
    for (int at = int(base); at >= 0 && at < bits; at += step)
        if ((mask >> at & 1) && --left == 0) return at;
    return -1;
}
WP_FN unsigned __fns(unsigned mask, unsigned base, int offset) { return unsigned(wp_nth_set(mask, base, offset)); }
WP_FN int __fns32(unsigned mask, unsigned base, int offset) { return wp_nth_set(mask, base, offset); }
WP_FN int __fns64(unsigned long long mask, unsigned base, int offset) { return wp_nth_set(mask, base, offset); }
WP_FN unsigned __lastbit_u32_u64(unsigned long long x) { return x == 0 ? ~0u : unsigned(__builtin_ctzll(x)); }
WP_FN long long llmax(long long a, long long b) { return max(a, b); }
WP_FN long long llmin(long long a, long long b) { return min(a, b); }
WP_FN unsigned long long ullmax(unsigned long long a, unsigned long long b) { return max(a, b); }
WP_FN unsigned long long ullmin(unsigned long long a, unsigned long long b) { return min(a, b); }
#undef WP_FN
