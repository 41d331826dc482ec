// Atomic read-modify-write operations; relaxed order, as on a GPU.
#pragma once

#include <type_traits>

#include "wavepool/qualifiers.h"

template <class T> using wp_operand = typename std::common_type<T>::type;

#define WP_ATOMIC_SCOPES(NAME)                                                                                \
    template <class T> __device__ __forceinline__ T NAME##_system(T* p, wp_operand<T> v) { return NAME(p, v); } \
    template <class T> __device__ __forceinline__ T NAME##_block(T* p, wp_operand<T> v) { return NAME(p, v); }

#define WP_ATOMIC_BUILTIN(NAME, BUILTIN)                                            \
    template <class T> __device__ __forceinline__ T NAME(T* p, wp_operand<T> v) {   \
        return BUILTIN(p, v, __ATOMIC_RELAXED);                                     \
    }                                                                               \
    WP_ATOMIC_SCOPES(NAME)
WP_ATOMIC_BUILTIN(atomicAdd, __atomic_fetch_add)
WP_ATOMIC_BUILTIN(atomicSub, __atomic_fetch_sub)
WP_ATOMIC_BUILTIN(atomicAnd, __atomic_fetch_and)
WP_ATOMIC_BUILTIN(atomicOr, __atomic_fetch_or)
WP_ATOMIC_BUILTIN(atomicXor, __atomic_fetch_xor)
#undef WP_ATOMIC_BUILTIN

template <class T> __device__ __forceinline__ T atomicExch(T* p, wp_operand<T> v) {
    T result;
    __atomic_exchange(p, &v, &result, __ATOMIC_RELAXED);
    return result;
}
WP_ATOMIC_SCOPES(atomicExch)

template <class T> __device__ __forceinline__ T atomicCAS(T* p, wp_operand<T> expected, wp_operand<T> desired) {
    __atomic_compare_exchange(p, &expected, &desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return expected;
}
template <class T> __device__ __forceinline__ T atomicCAS_system(T* p, wp_operand<T> e, wp_operand<T> d) {
    return atomicCAS(p, e, d);
}
template <class T> __device__ __forceinline__ T atomicCAS_block(T* p, wp_operand<T> e, wp_operand<T> d) {
    return atomicCAS(p, e, d);
}

template <class T, class F> __device__ __forceinline__ T wp_atomic_update(T* p, F updated) {
    T seen;
    __atomic_load(p, &seen, __ATOMIC_RELAXED);
    for (;;) {
        T wanted = updated(seen);
        if (__atomic_compare_exchange(p, &seen, &wanted, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return seen;
    }
}

#define WP_ATOMIC_EXTREME(NAME, BUILTIN, COMPARE)                                                      \
    template <class T> __device__ __forceinline__ T NAME(T* p, wp_operand<T> v) {                      \
        if constexpr (std::is_integral<T>::value) return BUILTIN(p, v, __ATOMIC_RELAXED);              \
        else return wp_atomic_update(p, [v](T seen) { return v COMPARE seen || seen != seen ? v : seen; }); \
    }                                                                                                  \
    WP_ATOMIC_SCOPES(NAME)
WP_ATOMIC_EXTREME(atomicMax, __atomic_fetch_max, >)
WP_ATOMIC_EXTREME(atomicMin, __atomic_fetch_min, <)
#undef WP_ATOMIC_EXTREME

__device__ __forceinline__ unsigned atomicInc(unsigned* p, unsigned limit) {
    return wp_atomic_update(p, [limit](unsigned seen) { return seen >= limit ? 0u : seen + 1; });
}
__device__ __forceinline__ unsigned atomicDec(unsigned* p, unsigned limit) {
    return wp_atomic_update(p, [limit](unsigned seen) { return seen == 0 || seen > limit ? limit : seen - 1; });
}

// "Unsafe" ones may do nothing in memory that is not the device's own; here both are the plain ones.
#define WP_ATOMIC_SAFETY(WORD)                                                                                         \
    template <class T> __device__ __forceinline__ T unsafeAtomic##WORD(T* p, wp_operand<T> v) { return atomic##WORD(p, v); } \
    template <class T> __device__ __forceinline__ T safeAtomic##WORD(T* p, wp_operand<T> v) { return atomic##WORD(p, v); }
WP_ATOMIC_SAFETY(Add)
WP_ATOMIC_SAFETY(Max)
WP_ATOMIC_SAFETY(Min)
#undef WP_ATOMIC_SAFETY
template <class T> __device__ __forceinline__ void atomicAddNoRet(T* p, wp_operand<T> v) { atomicAdd(p, v); }
