// Shuffles and votes over the 64 lanes of a wavefront.
#pragma once

#include <cstring>
#include <type_traits>

#include "wavepool/threads/lane_shift.h"
#include "wavepool/threads/thread_index.h"
#include "wavepool/threads/wave_operations.h"

__device__ __forceinline__ int wp_source_at(int source, int width) {
    return (source & (width - 1)) + (int(__wp_lane()) & ~(width - 1));
}
__device__ __forceinline__ wp_lane_shift wp_source_up(unsigned delta, int width) {
    int lane = __wp_lane(), source = lane - int(delta);
    return {source < (lane & ~(width - 1)) ? lane : source, 0, int(delta)};
}
__device__ __forceinline__ wp_lane_shift wp_source_down(unsigned delta, int width) {
    int lane = __wp_lane();
    return {(lane & (width - 1)) + int(delta) >= width ? lane : lane + int(delta), int(delta), 0};
}
__device__ __forceinline__ wp_lane_shift wp_source_xor(int bits, int width) {
    int lane = __wp_lane(), source = lane ^ bits, step = bits & (bits - 1) ? 0 : bits;
    return {source >= ((lane + width) & ~(width - 1)) ? lane : source, step, step};
}

#define WP_SHUFFLE(NAME, SOURCE, T2, WIDTH_OF_SYNC)                                               \
    template <class T> __device__ __forceinline__ T NAME(T value, T2 source, int width = 64, int line = __builtin_LINE()) {    \
        return wp_exchange(value, SOURCE(source, width), 0, line);                                      \
    }                                                                                             \
    template <class M, class T>                                                                   \
    __device__ __forceinline__ T NAME##_sync(M mask, T value, T2 source, int width = WIDTH_OF_SYNC, int line = __builtin_LINE()) { \
        return wp_exchange(value, SOURCE(source, width), wp_mask(mask), line);                          \
    }
// Whoever names 32 lanes numbers them from 0 to 31. Distances keep all 64 lanes: loops begin at 16, or at warpSize / 2.
WP_SHUFFLE(__shfl, wp_source_at, int, (sizeof(M) < 8 ? 32 : 64))
WP_SHUFFLE(__shfl_up, wp_source_up, unsigned, 64)
WP_SHUFFLE(__shfl_down, wp_source_down, unsigned, 64)
WP_SHUFFLE(__shfl_xor, wp_source_xor, int, 64)
#undef WP_SHUFFLE

__device__ __forceinline__ unsigned long long __ballot(int predicate, int line = __builtin_LINE()) {
    return wp_ballot(predicate != 0, 0, line);
}
__device__ __forceinline__ unsigned long long __ballot64(int predicate, int line = __builtin_LINE()) {
    return wp_ballot(predicate != 0, 0, line);
}
__device__ __forceinline__ unsigned long long __activemask(int line = __builtin_LINE()) {
    __wp_wave_barrier(1, 0, line);
    return __wp_wave_active();
}
__device__ __forceinline__ int __any(int predicate, int line = __builtin_LINE()) {
    return __ballot(predicate, line) != 0;
}
__device__ __forceinline__ int __all(int predicate, int line = __builtin_LINE()) {
    return __ballot(!predicate, line) == 0;
}

template <class M> __device__ __forceinline__ unsigned long long __ballot_sync(M mask, int predicate, int line = __builtin_LINE()) {
    return wp_named_lanes(wp_ballot(predicate != 0, wp_mask(mask), line), mask);
}
template <class M> __device__ __forceinline__ int __any_sync(M mask, int predicate, int line = __builtin_LINE()) {
    return __ballot_sync(mask, predicate, line) != 0;
}
template <class M> __device__ __forceinline__ int __all_sync(M mask, int predicate, int line = __builtin_LINE()) {
    return __ballot_sync(mask, !predicate, line) == 0;
}
// All lanes agree, one way or the other.
template <class M> __device__ __forceinline__ int __uni_sync(M mask, int predicate, int line = __builtin_LINE()) {
    unsigned long long yes = __ballot_sync(mask, predicate, line);
    return yes == 0 || yes == wp_named_lanes(__wp_wave_active(), mask);
}
template <class M = unsigned long long> __device__ __forceinline__ void __syncwarp(M mask = M(~0ull), int line = __builtin_LINE()) {
    __wp_wave_barrier(0, wp_mask(mask), line);
}

template <class T> __device__ __forceinline__ unsigned long long __match_any(T value, int line = __builtin_LINE()) {
    return wp_match(value, 0, line);
}
template <class M, class T> __device__ __forceinline__ unsigned long long __match_any_sync(M mask, T value, int line = __builtin_LINE()) {
    return wp_named_lanes(wp_match(value, wp_mask(mask), line), mask);
}
template <class M, class T> __device__ __forceinline__ unsigned long long __match_all_sync(M mask, T value, int* all) {
    unsigned long long same = __match_any_sync(mask, value);
    *all = same == wp_named_lanes(__wp_wave_active(), mask);
    return *all ? same : 0;
}

#define WP_REDUCE(NAME, EXPRESSION)                                                                       \
    template <class M, class T> __device__ __forceinline__ T NAME(M mask, T value, int line = __builtin_LINE()) { \
        return wp_reduce(value, wp_mask(mask), [](T result, T other) -> T { return EXPRESSION; }, line);          \
    }
WP_REDUCE(__reduce_add_sync, result + other)
WP_REDUCE(__reduce_min_sync, other < result ? other : result)
WP_REDUCE(__reduce_max_sync, other > result ? other : result)
WP_REDUCE(__reduce_and_sync, result & other)
WP_REDUCE(__reduce_or_sync, result | other)
WP_REDUCE(__reduce_xor_sync, result ^ other)
#undef WP_REDUCE
