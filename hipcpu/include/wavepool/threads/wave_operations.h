// What lanes of a wavefront do together, from which the shuffles and votes of HIP are made.
#pragma once

#include <cstring>
#include <type_traits>

#include "wavepool/threads/lane_shift.h"
#include "wavepool/threads/thread_queries.h"

extern "C" {
// `line` is the source line, for reports.
// The lanes of the wavefront that are here, or those of `mask` if it is not 0, wait here and show `value` to each other.
__device__ void __wp_wave_barrier(unsigned long long value, unsigned long long mask, int line);
// Results of the caller's last __wp_wave_barrier; a lane that did not come shows 0.
__device__ __attribute__((pure, nothrow)) unsigned long long __wp_wave_value(int lane);
__device__ __attribute__((pure, nothrow)) unsigned long long __wp_wave_active(void);
// That of the lane so many further, -63 to 63; anything where the wavefront has no such lane.
__device__ __attribute__((pure, nothrow)) unsigned long long __wp_wave_shifted(int lanes);
}

// A 32-bit mask was written for wavefronts of 32 lanes: it names lanes of the caller's half.
template <class M> __device__ __forceinline__ unsigned long long wp_mask(M mask) {
    static_assert(std::is_integral<M>::value, "the lane mask of a _sync function is an integer");
    unsigned long long bits = static_cast<unsigned long long>(mask);
    if (sizeof(M) < 8) bits = (bits & 0xffffffffull) << (__wp_lane() & 32);
    return bits | 1ull << __wp_lane();
}
// The lanes among `mask`, numbered as the mask numbers them.
template <class M> __device__ __forceinline__ unsigned long long wp_named_lanes(unsigned long long lanes, M mask) {
    lanes &= wp_mask(mask);
    return sizeof(M) < 8 ? lanes >> (__wp_lane() & 32) : lanes;
}

__device__ __forceinline__ unsigned long long wp_shown(int source, unsigned long long) {
    return __wp_wave_value(source & 63);
}
// Neighbouring lanes read neighbouring values here, which is one access when lanes are elements of a vector.
__device__ __forceinline__ unsigned long long wp_shown(wp_lane_shift shift, unsigned long long own) {
    if (!shift.known()) return wp_shown(shift.source, own);
    int lane = __wp_lane();
    unsigned long long further = shift.further ? __wp_wave_shifted(shift.further) : own;
    unsigned long long back = shift.back ? __wp_wave_shifted(-shift.back) : own;
    return shift.source > lane ? further : shift.source < lane ? back : own;
}

template <class T, class S>
__device__ __forceinline__ T wp_exchange(T value, S source, unsigned long long mask, int line) {
    static_assert(std::is_trivially_copyable<T>::value, "a shuffled value is copied bit by bit");
    constexpr int words = (sizeof(T) + 7) / 8;
    unsigned long long bits[words] = {};
    __builtin_memcpy(bits, &value, sizeof(T));
    for (int i = 0; i < words; ++i) {
        __wp_wave_barrier(bits[i], mask, line);
        bits[i] = wp_shown(source, bits[i]);
    }
    __builtin_memcpy(&value, bits, sizeof(T));
    return value;
}

__device__ __forceinline__ unsigned long long wp_ballot(bool predicate, unsigned long long mask, int line) {
    __wp_wave_barrier(predicate, mask, line);
    unsigned long long active = __wp_wave_active(), result = 0;
    for (int lane = 0; lane < 64; ++lane) result |= (__wp_wave_value(lane) & 1) << lane;
    return result & active;
}

template <class T> __device__ __forceinline__ unsigned long long wp_match(T value, unsigned long long mask, int line) {
    static_assert(sizeof(T) <= 8 && std::is_trivially_copyable<T>::value, "at most 64 bits can be matched");
    unsigned long long bits = 0, result = 0;
    __builtin_memcpy(&bits, &value, sizeof(T));
    __wp_wave_barrier(bits, mask, line);
    for (int lane = 0; lane < 64; ++lane) result |= (unsigned long long)(__wp_wave_value(lane) == bits) << lane;
    return result & __wp_wave_active();
}
template <class T, class F>
__device__ __forceinline__ T wp_reduce(T value, unsigned long long mask, F combine, int line) {
    __wp_wave_barrier((unsigned long long)value, mask, line);
    unsigned long long active = __wp_wave_active() & mask;
    T result = value;
    for (int lane = 0; lane < 64; ++lane)
        if ((active >> lane & 1) && lane != int(__wp_lane())) result = combine(result, (T)__wp_wave_value(lane));
    return result;
}

__device__ __forceinline__ int __builtin_amdgcn_readfirstlane(int value, int line = __builtin_LINE()) {
    __wp_wave_barrier((unsigned)value, 0, line);
    return int(__wp_wave_value(__builtin_ctzll(__wp_wave_active())));
}
__device__ __forceinline__ int __builtin_amdgcn_readlane(int value, int lane, int line = __builtin_LINE()) {
    return wp_exchange(value, lane, 0, line);
}
__device__ __forceinline__ int __builtin_amdgcn_ds_bpermute(int address, int value, int line = __builtin_LINE()) {
    return wp_exchange(value, address >> 2, 0, line);
}
__device__ __forceinline__ unsigned __builtin_amdgcn_mbcnt_lo(unsigned mask, unsigned count) {
    unsigned lane = __wp_lane();
    return count + __builtin_popcount(mask & (lane < 32 ? (1u << lane) - 1 : ~0u));
}
__device__ __forceinline__ unsigned __builtin_amdgcn_mbcnt_hi(unsigned mask, unsigned count) {
    unsigned lane = __wp_lane();
    return count + (lane < 32 ? 0 : __builtin_popcount(mask & ((1u << (lane - 32)) - 1)));
}
