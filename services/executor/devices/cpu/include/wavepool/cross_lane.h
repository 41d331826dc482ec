// Shuffles and votes over the 64 lanes of a wavefront.
#pragma once

#include <cstring>
#include <type_traits>

#include "wavepool/thread_index.h"

extern "C" {
// `line` is the source line, for reports.
// The lanes of the wavefront that are here, or those of `mask` where it is not 0, meet and show `value` to each other.
__device__ void __wp_wave_meet(unsigned long long value, unsigned long long mask, int line);
// Results of the caller's last __wp_wave_meet; a lane that did not come shows 0.
__device__ __attribute__((pure, nothrow)) unsigned long long __wp_wave_value(int lane);
__device__ __attribute__((pure, nothrow)) unsigned long long __wp_wave_active(void);
}

// A 32-bit mask was written for wavefronts of 32 lanes: it names the same lanes of each half.
template <class M> __device__ __forceinline__ unsigned long long wp_mask(M mask) {
    static_assert(std::is_integral<M>::value, "the lane mask of a _sync function is an integer");
    unsigned long long bits = static_cast<unsigned long long>(mask);
    if (sizeof(M) < 8) bits = (bits & 0xffffffffull) | bits << 32;
    return bits | 1ull << __wp_lane();
}

template <class T>
__device__ __forceinline__ T wp_exchange(T value, int source, unsigned long long mask, int line) {
    static_assert(std::is_trivially_copyable<T>::value, "a shuffled value is copied bit by bit");
    constexpr int words = (sizeof(T) + 7) / 8;
    unsigned long long bits[words] = {};
    __builtin_memcpy(bits, &value, sizeof(T));
    for (int i = 0; i < words; ++i) {
        __wp_wave_meet(bits[i], mask, line);
        bits[i] = __wp_wave_value(source & 63);
    }
    __builtin_memcpy(&value, bits, sizeof(T));
    return value;
}

__device__ __forceinline__ int wp_source_at(int source, int width) {
    return (source & (width - 1)) + (int(__wp_lane()) & ~(width - 1));
}
__device__ __forceinline__ int wp_source_up(unsigned delta, int width) {
    int lane = __wp_lane(), source = lane - int(delta);
    return source < (lane & ~(width - 1)) ? lane : source;
}
__device__ __forceinline__ int wp_source_down(unsigned delta, int width) {
    int lane = __wp_lane();
    return (lane & (width - 1)) + int(delta) >= width ? lane : lane + int(delta);
}
__device__ __forceinline__ int wp_source_xor(int bits, int width) {
    int lane = __wp_lane(), source = lane ^ bits;
    return source >= ((lane + width) & ~(width - 1)) ? lane : source;
}

#define WP_SHUFFLE(NAME, SOURCE, T2)                                                              \
    template <class T> __device__ __forceinline__ T NAME(T value, T2 source, int width = 64, int line = __builtin_LINE()) {    \
        return wp_exchange(value, SOURCE(source, width), 0, line);                                      \
    }                                                                                             \
    template <class M, class T>                                                                   \
    __device__ __forceinline__ T NAME##_sync(M mask, T value, T2 source, int width = 64, int line = __builtin_LINE()) {        \
        return wp_exchange(value, SOURCE(source, width), wp_mask(mask), line);                          \
    }
WP_SHUFFLE(__shfl, wp_source_at, int)
WP_SHUFFLE(__shfl_up, wp_source_up, unsigned)
WP_SHUFFLE(__shfl_down, wp_source_down, unsigned)
WP_SHUFFLE(__shfl_xor, wp_source_xor, int)
#undef WP_SHUFFLE

__device__ __forceinline__ unsigned long long wp_ballot(bool predicate, unsigned long long mask, int line) {
    __wp_wave_meet(predicate, mask, line);
    unsigned long long active = __wp_wave_active(), result = 0;
    for (int lane = 0; lane < 64; ++lane) result |= (__wp_wave_value(lane) & 1) << lane;
    return result & active;
}

__device__ __forceinline__ unsigned long long __ballot(int predicate, int line = __builtin_LINE()) {
    return wp_ballot(predicate != 0, 0, line);
}
__device__ __forceinline__ unsigned long long __ballot64(int predicate, int line = __builtin_LINE()) {
    return wp_ballot(predicate != 0, 0, line);
}
__device__ __forceinline__ unsigned long long __activemask(int line = __builtin_LINE()) {
    __wp_wave_meet(1, 0, line);
    return __wp_wave_active();
}
__device__ __forceinline__ int __any(int predicate, int line = __builtin_LINE()) {
    return __ballot(predicate, line) != 0;
}
__device__ __forceinline__ int __all(int predicate, int line = __builtin_LINE()) {
    return __ballot(!predicate, line) == 0;
}

template <class M> __device__ __forceinline__ unsigned long long __ballot_sync(M mask, int predicate, int line = __builtin_LINE()) {
    return wp_ballot(predicate != 0, wp_mask(mask), line) & wp_mask(mask);
}
template <class M> __device__ __forceinline__ int __any_sync(M mask, int predicate, int line = __builtin_LINE()) {
    return __ballot_sync(mask, predicate, line) != 0;
}
template <class M> __device__ __forceinline__ int __all_sync(M mask, int predicate, int line = __builtin_LINE()) {
    return __ballot_sync(mask, !predicate, line) == 0;
}
template <class M = unsigned long long> __device__ __forceinline__ void __syncwarp(M mask = M(~0ull), int line = __builtin_LINE()) {
    __wp_wave_meet(0, wp_mask(mask), line);
}

template <class T> __device__ __forceinline__ unsigned long long wp_match(T value, unsigned long long mask, int line) {
    static_assert(sizeof(T) <= 8 && std::is_trivially_copyable<T>::value, "at most 64 bits can be matched");
    unsigned long long bits = 0, result = 0;
    __builtin_memcpy(&bits, &value, sizeof(T));
    __wp_wave_meet(bits, mask, line);
    for (int lane = 0; lane < 64; ++lane) result |= (unsigned long long)(__wp_wave_value(lane) == bits) << lane;
    return result & __wp_wave_active();
}
template <class T> __device__ __forceinline__ unsigned long long __match_any(T value, int line = __builtin_LINE()) {
    return wp_match(value, 0, line);
}
template <class M, class T> __device__ __forceinline__ unsigned long long __match_any_sync(M mask, T value, int line = __builtin_LINE()) {
    return wp_match(value, wp_mask(mask), line) & wp_mask(mask);
}
template <class M, class T> __device__ __forceinline__ unsigned long long __match_all_sync(M mask, T value, int* all) {
    unsigned long long same = __match_any_sync(mask, value);
    *all = same == (wp_mask(mask) & __wp_wave_active());
    return *all ? same : 0;
}

#define WP_REDUCE(NAME, EXPRESSION)                                                             \
    template <class M, class T> __device__ __forceinline__ T NAME(M mask, T value, int line = __builtin_LINE()) { \
        __wp_wave_meet((unsigned long long)value, wp_mask(mask), line);                         \
        unsigned long long active = __wp_wave_active() & wp_mask(mask);                         \
        T result = value;                                                                       \
        for (int lane = 0; lane < 64; ++lane)                                                   \
            if ((active >> lane & 1) && lane != int(__wp_lane())) {                             \
                T other = (T)__wp_wave_value(lane);                                             \
                result = EXPRESSION;                                                            \
            }                                                                                   \
        return result;                                                                          \
    }
WP_REDUCE(__reduce_add_sync, result + other)
WP_REDUCE(__reduce_min_sync, other < result ? other : result)
WP_REDUCE(__reduce_max_sync, other > result ? other : result)
WP_REDUCE(__reduce_and_sync, result & other)
WP_REDUCE(__reduce_or_sync, result | other)
WP_REDUCE(__reduce_xor_sync, result ^ other)
#undef WP_REDUCE

__device__ __forceinline__ int __builtin_amdgcn_readfirstlane(int value, int line = __builtin_LINE()) {
    __wp_wave_meet((unsigned)value, 0, line);
    return int(__wp_wave_value(__builtin_ctzll(__wp_wave_active())));
}
__device__ __forceinline__ int __builtin_amdgcn_readlane(int value, int lane, int line = __builtin_LINE()) {
    return __shfl(value, lane, 64, line);
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
