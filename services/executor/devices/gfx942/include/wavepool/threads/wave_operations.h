// What lanes of a wavefront do together, with the hardware's own instructions. `line` is for the cpu device's reports,
// and masks name lanes that are there anyway.
#pragma once

#include <cstring>
#include <type_traits>

#include "wavepool/threads/thread_queries.h"

__device__ __forceinline__ void __wp_wave_barrier(unsigned long long, unsigned long long, int) {
    __builtin_amdgcn_wave_barrier();
}
__device__ __forceinline__ unsigned long long __wp_wave_active() { return __builtin_amdgcn_ballot_w64(true); }

template <class M> __device__ __forceinline__ unsigned long long wp_mask(M mask) {
    static_assert(std::is_integral<M>::value, "the lane mask of a _sync function is an integer");
    unsigned long long bits = static_cast<unsigned long long>(mask);
    return sizeof(M) < 8 ? (bits & 0xffffffffull) | bits << 32 : bits;
}
// The lanes among `mask`, numbered as the mask numbers them.
template <class M> __device__ __forceinline__ unsigned long long wp_named_lanes(unsigned long long lanes, M mask) {
    lanes &= wp_mask(mask);
    return sizeof(M) < 8 ? lanes >> (__wp_lane() & 32) & 0xffffffffull : lanes;
}

template <class T> __device__ __forceinline__ T wp_exchange(T value, int source, unsigned long long, int) {
    static_assert(std::is_trivially_copyable<T>::value, "a shuffled value is copied bit by bit");
    constexpr int words = (sizeof(T) + 3) / 4;
    int bits[words] = {};
    __builtin_memcpy(bits, &value, sizeof(T));
    for (int i = 0; i < words; ++i) bits[i] = __builtin_amdgcn_ds_bpermute(source << 2, bits[i]);
    __builtin_memcpy(&value, bits, sizeof(T));
    return value;
}

__device__ __forceinline__ unsigned long long wp_ballot(bool predicate, unsigned long long, int) {
    return __builtin_amdgcn_ballot_w64(predicate);
}

template <class T> __device__ __forceinline__ unsigned long long wp_match(T value, unsigned long long, int line) {
    static_assert(sizeof(T) <= 8 && std::is_trivially_copyable<T>::value, "at most 64 bits can be matched");
    unsigned long long bits = 0, result = 0;
    __builtin_memcpy(&bits, &value, sizeof(T));
    for (int lane = 0; lane < 64; ++lane)
        result |= (unsigned long long)(wp_exchange(bits, lane, 0, line) == bits) << lane;
    return result & __wp_wave_active();
}

template <class T, class F>
__device__ __forceinline__ T wp_reduce(T value, unsigned long long, F combine, int line) {
    for (int bits = 32; bits > 0; bits /= 2)
        value = combine(value, wp_exchange(value, int(__wp_lane()) ^ bits, 0, line));
    return value;
}
