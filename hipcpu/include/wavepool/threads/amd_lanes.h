// AMD instructions that move values between the lanes of a wavefront, or ask all of them.
#pragma once

#include <type_traits>

#include "wavepool/threads/cross_lane.h"

#define WP_FN __device__ __forceinline__

// The lane whose value a DPP control selects, -1 where a row or the wavefront ends: quad_perm, row_shl, row_shr,
// row_ror, row_mirror, row_half_mirror and row_bcast, which works from the last lane of the row or half before.
WP_FN int wp_dpp_source(int control) {
    int lane = __wp_lane(), row = lane & ~15, in_row = lane & 15, n = control & 15;
    if (control < 0x100) return (lane & ~3) + (control >> 2 * (lane & 3) & 3);
    if (control > 0x100 && control < 0x110) return in_row + n < 16 ? lane + n : -1;
    if (control > 0x110 && control < 0x120) return in_row >= n ? lane - n : -1;
    if (control > 0x120 && control < 0x130) return row + ((in_row - n) & 15);
    if (control == 0x130) return lane < 63 ? lane + 1 : -1;
    if (control == 0x134) return (lane + 1) & 63;
    if (control == 0x138) return lane - 1;
    if (control == 0x13c) return (lane - 1) & 63;
    if (control == 0x140) return row + 15 - in_row;
    if (control == 0x141) return (lane & ~7) + 7 - (lane & 7);
    if (control == 0x142) return row - 1;
    return control == 0x143 ? (lane & ~31) - 1 : control >= 0x150 && control < 0x160 ? row + n : lane;
}
template <class T>
WP_FN T __builtin_amdgcn_update_dpp(std::type_identity_t<T> old, T value, int control, int rows, int banks,
                                    bool zero_outside, int line = __builtin_LINE()) {
    static_assert(sizeof(T) <= 8, "DPP moves 32 or 64 bits");
    int source = wp_dpp_source(control), lane = __wp_lane();
    T moved = wp_exchange(value, source < 0 ? lane : source, 0, line);
    bool written = (rows >> (lane >> 4) & 1) && (banks >> (lane >> 2 & 3) & 1);
    if (!written) return old;
    // A lane that is switched off is as far outside as one beyond the row.
    bool inside = source >= 0 && (__wp_wave_active() >> (source & 63) & 1);
    return inside ? moved : zero_outside ? T(0) : old;
}
template <class T>
WP_FN T __builtin_amdgcn_mov_dpp(T value, int control, int rows, int banks, bool zero_outside,
                                 int line = __builtin_LINE()) {
    return __builtin_amdgcn_update_dpp(T(0), value, control, rows, banks, zero_outside, line);
}

// Within 32 lanes, by the pattern's upper bits: and, or and xor masks for the lane number; a permutation of each four
// lanes; a rotation; or the order of a fast Fourier transform.
WP_FN int wp_swizzle_source(int pattern) {
    int lane = __wp_lane(), half = lane & 32, own = lane & 31, low = pattern & 31, next = pattern >> 5 & 31;
    if (pattern >= 0xe000) {
        int reversed = __builtin_bitreverse32(own) >> 27;
        return half | (low == 31 ? own : (own & low) | reversed >> __builtin_popcount(low));
    }
    if (pattern >= 0xc000) {
        int turned = pattern & 0x400 ? own - next : own + next;
        return half | (own & low) | (turned & 31 & ~low);
    }
    if (pattern & 0x8000) return (lane & ~3) + (pattern >> 2 * (lane & 3) & 3);
    return half | (((own & low) | next) ^ (pattern >> 10 & 31));
}
WP_FN int __builtin_amdgcn_ds_swizzle(int value, int pattern, int line = __builtin_LINE()) {
    return wp_exchange(value, wp_swizzle_source(pattern & 0xffff), 0, line);
}
// Each lane sends to the lane that its address names; of several the highest arrives, and where none does, 0.
WP_FN int __builtin_amdgcn_ds_permute(int address, int value, int line = __builtin_LINE()) {
    unsigned target = unsigned(address) >> 2 & 63, own = __wp_lane();
    __wp_wave_barrier((unsigned long long)target << 32 | unsigned(value), 0, line);
    unsigned long long active = __wp_wave_active();
    int result = 0;
    for (int lane = 0; lane < 64; ++lane) {
        unsigned long long sent = __wp_wave_value(lane);
        if ((active >> lane & 1) && sent >> 32 == own) result = int(unsigned(sent));
    }
    return result;
}

WP_FN unsigned long __builtin_amdgcn_ballot_w64(bool predicate, int line = __builtin_LINE()) { return wp_ballot(predicate, 0, line); }
WP_FN bool __builtin_amdgcn_inverse_ballot_w64(unsigned long lanes) { return lanes >> __wp_lane() & 1; }
WP_FN unsigned long __builtin_amdgcn_read_exec(int line = __builtin_LINE()) { return __activemask(line); }
WP_FN unsigned __builtin_amdgcn_read_exec_lo(int line = __builtin_LINE()) { return unsigned(__activemask(line)); }
WP_FN unsigned __builtin_amdgcn_read_exec_hi(int line = __builtin_LINE()) { return unsigned(__activemask(line) >> 32); }

// Comparisons of all lanes, by LLVM's numbers of their predicates: 32 to 41 for integers; for floating point four bits,
// the lowest first: equal, greater, less, and no number.
template <class U, class S> WP_FN bool wp_compares(U a, U b, int predicate) {
    if (predicate == 32 || predicate == 33) return (a == b) == (predicate == 32);
    int order = (predicate - 34) % 4;
    auto holds = [order](auto x, auto y) { return order == 0 ? x > y : order == 1 ? x >= y : order == 2 ? x < y : x <= y; };
    return predicate < 38 ? holds(a, b) : holds(S(a), S(b));
}
template <class T> WP_FN bool wp_compares_floats(T a, T b, int predicate) {
    return predicate >> (a != a || b != b ? 3 : a < b ? 2 : a > b ? 1 : 0) & 1;
}
#define WP_COMPARE(NAME, T, HOLDS)                                                                        \
    WP_FN unsigned long NAME(T a, T b, int predicate, int line = __builtin_LINE()) {                      \
        return wp_ballot(HOLDS(a, b, predicate), 0, line);                                                \
    }
WP_COMPARE(__builtin_amdgcn_uicmp, unsigned, (wp_compares<unsigned, int>))
WP_COMPARE(__builtin_amdgcn_sicmp, int, (wp_compares<unsigned, int>))
WP_COMPARE(__builtin_amdgcn_uicmpl, unsigned long, (wp_compares<unsigned long, long>))
WP_COMPARE(__builtin_amdgcn_sicmpl, long, (wp_compares<unsigned long, long>))
WP_COMPARE(__builtin_amdgcn_fcmpf, float, wp_compares_floats)
WP_COMPARE(__builtin_amdgcn_fcmp, double, wp_compares_floats)
#undef WP_COMPARE

// From the first active lane to the last, as the compiler's own loop does it; the second argument chooses how.
template <class T, class F> WP_FN T wp_reduce_active(T value, T result, int line, F combine) {
    unsigned long long bits = 0;
    __builtin_memcpy(&bits, &value, sizeof(T));
    __wp_wave_barrier(bits, 0, line);
    unsigned long long active = __wp_wave_active();
    for (int lane = 0; lane < 64; ++lane) {
        if (!(active >> lane & 1)) continue;
        bits = __wp_wave_value(lane);
        T other;
        __builtin_memcpy(&other, &bits, sizeof(T));
        result = combine(result, other);
    }
    return result;
}
#define WP_WAVE_REDUCE(NAME, T, FIRST, EXPRESSION)                                                                 \
    WP_FN T __builtin_amdgcn_wave_reduce_##NAME(T value, int, int line = __builtin_LINE()) {                       \
        return wp_reduce_active<T>(value, FIRST, line, [](T all, T other) -> T { return EXPRESSION; });            \
    }
#define WP_WAVE_REDUCE_INTEGERS(BITS, U, S)                                                   \
    WP_WAVE_REDUCE(add_u##BITS, U, 0, all + other)                                            \
    WP_WAVE_REDUCE(sub_u##BITS, U, 0, all - other)                                            \
    WP_WAVE_REDUCE(min_u##BITS, U, ~(U)0, other < all ? other : all)                          \
    WP_WAVE_REDUCE(max_u##BITS, U, 0, other > all ? other : all)                              \
    WP_WAVE_REDUCE(min_i##BITS, S, (S)(~(U)0 >> 1), other < all ? other : all)                  \
    WP_WAVE_REDUCE(max_i##BITS, S, -(S)(~(U)0 >> 1) - 1, other > all ? other : all)             \
    WP_WAVE_REDUCE(and_b##BITS, S, -1, all & other)                                           \
    WP_WAVE_REDUCE(or_b##BITS, S, 0, all | other)                                             \
    WP_WAVE_REDUCE(xor_b##BITS, S, 0, all ^ other)
WP_WAVE_REDUCE_INTEGERS(32, unsigned, int)
WP_WAVE_REDUCE_INTEGERS(64, unsigned long, long)
WP_WAVE_REDUCE(fadd_f32, float, -0.0f, all + other)
WP_WAVE_REDUCE(fsub_f32, float, -0.0f, all - other)
WP_WAVE_REDUCE(fmin_f32, float, __builtin_nanf(""), fminf(all, other))
WP_WAVE_REDUCE(fmax_f32, float, __builtin_nanf(""), fmaxf(all, other))
#undef WP_WAVE_REDUCE_INTEGERS
#undef WP_WAVE_REDUCE
#undef WP_FN
