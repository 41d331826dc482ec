// clang's names for single instructions of AMD GPUs that have a meaning on the host processor.
#pragma once

#include <cmath>

#include "wavepool/threads/cross_lane.h"
#include "wavepool/threads/synchronisation.h"

#define WP_FN __device__ __forceinline__

WP_FN float __builtin_amdgcn_rcpf(float x) { return 1.0f / x; }
WP_FN double __builtin_amdgcn_rcp(double x) { return 1.0 / x; }
WP_FN float __builtin_amdgcn_rsqf(float x) { return 1.0f / __builtin_sqrtf(x); }
WP_FN double __builtin_amdgcn_rsq(double x) { return 1.0 / __builtin_sqrt(x); }
WP_FN float __builtin_amdgcn_sqrtf(float x) { return __builtin_sqrtf(x); }
WP_FN float __builtin_amdgcn_exp2f(float x) { return exp2f(x); }
WP_FN float __builtin_amdgcn_logf(float x) { return log2f(x); }
// These take the angle in turns.
WP_FN float __builtin_amdgcn_sinf(float x) { return sinf(x * 6.28318530717958647692f); }
WP_FN float __builtin_amdgcn_cosf(float x) { return cosf(x * 6.28318530717958647692f); }
WP_FN float __builtin_amdgcn_fractf(float x) { return x - floorf(x); }
WP_FN float __builtin_amdgcn_ldexpf(float x, int e) { return ldexpf(x, e); }
WP_FN float __builtin_amdgcn_fmed3f(float a, float b, float c) { return fmaxf(fminf(a, b), fminf(fmaxf(a, b), c)); }
WP_FN unsigned __builtin_amdgcn_perm(unsigned high, unsigned low, unsigned selector) {
    unsigned long long bytes = (unsigned long long)high << 32 | low;
    unsigned result = 0;
    for (int i = 0; i < 4; ++i) {
        unsigned wanted = selector >> 8 * i & 0xff;
        unsigned byte = wanted < 8 ? unsigned(bytes >> 8 * wanted) & 0xff : wanted == 12 ? 0 : 0xff;
        result |= byte << 8 * i;
    }
    return result;
}
WP_FN int __builtin_amdgcn_sdot4(int a, int b, int c, bool) { return __dp4a(a, b, c); }
WP_FN unsigned __builtin_amdgcn_udot4(unsigned a, unsigned b, unsigned c, bool) { return __dp4a(a, b, c); }

WP_FN unsigned __builtin_amdgcn_workitem_id_x() { return threadIdx.x; }
WP_FN unsigned __builtin_amdgcn_workitem_id_y() { return threadIdx.y; }
WP_FN unsigned __builtin_amdgcn_workitem_id_z() { return threadIdx.z; }
WP_FN unsigned __builtin_amdgcn_workgroup_id_x() { return blockIdx.x; }
WP_FN unsigned __builtin_amdgcn_workgroup_id_y() { return blockIdx.y; }
WP_FN unsigned __builtin_amdgcn_workgroup_id_z() { return blockIdx.z; }
WP_FN unsigned __builtin_amdgcn_workgroup_size_x() { return blockDim.x; }
WP_FN unsigned __builtin_amdgcn_workgroup_size_y() { return blockDim.y; }
WP_FN unsigned __builtin_amdgcn_workgroup_size_z() { return blockDim.z; }
WP_FN unsigned __builtin_amdgcn_wavefrontsize() { return 64; }

// Hints to the scheduler and the clocks.
WP_FN void __builtin_amdgcn_sched_barrier(int) {}
WP_FN void __builtin_amdgcn_sched_group_barrier(int, int, int) {}
WP_FN void __builtin_amdgcn_iglp_opt(int) {}
WP_FN void __builtin_amdgcn_s_setprio(short) {}
WP_FN unsigned long long __builtin_amdgcn_s_memtime() { return __builtin_readcyclecounter(); }
WP_FN unsigned long long __builtin_amdgcn_s_memrealtime() { return __builtin_readcyclecounter(); }

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
WP_FN T __builtin_amdgcn_update_dpp(T old, T value, int control, int rows, int banks, bool zero_outside,
                                    int line = __builtin_LINE()) {
    static_assert(sizeof(T) <= 8, "DPP moves 32 or 64 bits");
    int source = wp_dpp_source(control), lane = __wp_lane();
    T moved = wp_exchange(value, source < 0 ? lane : source, 0, line);
    bool written = (rows >> (lane >> 4) & 1) && (banks >> (lane >> 2 & 3) & 1);
    if (!written) return old;
    return source >= 0 ? moved : zero_outside ? T(0) : old;
}
WP_FN int __builtin_amdgcn_mov_dpp(int value, int control, int rows, int banks, bool zero_outside,
                                   int line = __builtin_LINE()) {
    return __builtin_amdgcn_update_dpp(0, value, control, rows, banks, zero_outside, line);
}
// Within 32 lanes: and, or and xor masks for the lane number, or with the upper bit a permutation of each four.
WP_FN int __builtin_amdgcn_ds_swizzle(int value, int pattern, int line = __builtin_LINE()) {
    int lane = __wp_lane(), and_mask = pattern & 31, or_mask = pattern >> 5 & 31, xor_mask = pattern >> 10 & 31;
    int source = pattern & 0x8000 ? (lane & ~3) + (pattern >> 2 * (lane & 3) & 3)
                                  : (lane & 32) + ((((lane & 31) & and_mask) | or_mask) ^ xor_mask);
    return wp_exchange(value, source, 0, line);
}
#undef WP_FN
