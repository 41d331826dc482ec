// Atomic read-modify-write operations; relaxed order, with the scope that each name says (the whole GPU by default).
#pragma once

#include <type_traits>

#include "wavepool/qualifiers.h"

template <class T> using wp_operand = typename std::common_type<T>::type;

#define WP_ATOMIC_SCOPES(NAME, EXPRESSION)                                                            \
    template <class T> __device__ __forceinline__ T NAME(T* p, wp_operand<T> v) {                     \
        constexpr int scope = __HIP_MEMORY_SCOPE_AGENT;                                               \
        return EXPRESSION;                                                                            \
    }                                                                                                 \
    template <class T> __device__ __forceinline__ T NAME##_system(T* p, wp_operand<T> v) {            \
        constexpr int scope = __HIP_MEMORY_SCOPE_SYSTEM;                                              \
        return EXPRESSION;                                                                            \
    }                                                                                                 \
    template <class T> __device__ __forceinline__ T NAME##_block(T* p, wp_operand<T> v) {             \
        constexpr int scope = __HIP_MEMORY_SCOPE_WORKGROUP;                                           \
        return EXPRESSION;                                                                            \
    }
#define WP_ATOMIC(NAME, OPERATION) WP_ATOMIC_SCOPES(NAME, OPERATION(p, v, __ATOMIC_RELAXED, scope))
WP_ATOMIC(atomicAdd, __hip_atomic_fetch_add)
WP_ATOMIC_SCOPES(atomicSub, __hip_atomic_fetch_add(p, T(-v), __ATOMIC_RELAXED, scope))
WP_ATOMIC(atomicAnd, __hip_atomic_fetch_and)
WP_ATOMIC(atomicOr, __hip_atomic_fetch_or)
WP_ATOMIC(atomicXor, __hip_atomic_fetch_xor)
WP_ATOMIC(atomicMax, __hip_atomic_fetch_max)
WP_ATOMIC(atomicMin, __hip_atomic_fetch_min)
WP_ATOMIC(atomicExch, __hip_atomic_exchange)
#undef WP_ATOMIC
#undef WP_ATOMIC_SCOPES

#define WP_COMPARE(NAME, SCOPE)                                                                                   \
    template <class T> __device__ __forceinline__ T NAME(T* p, wp_operand<T> expected, wp_operand<T> desired) {   \
        __hip_atomic_compare_exchange_strong(p, &expected, desired, __ATOMIC_RELAXED, __ATOMIC_RELAXED, SCOPE);   \
        return expected;                                                                                          \
    }
WP_COMPARE(atomicCAS, __HIP_MEMORY_SCOPE_AGENT)
WP_COMPARE(atomicCAS_system, __HIP_MEMORY_SCOPE_SYSTEM)
WP_COMPARE(atomicCAS_block, __HIP_MEMORY_SCOPE_WORKGROUP)
#undef WP_COMPARE

template <class T, class F> __device__ __forceinline__ T wp_atomic_update(T* p, F updated) {
    T seen = __hip_atomic_load(p, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    for (;;) {
        T wanted = updated(seen);
        if (__hip_atomic_compare_exchange_weak(p, &seen, wanted, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                               __HIP_MEMORY_SCOPE_AGENT))
            return seen;
    }
}

__device__ __forceinline__ unsigned atomicInc(unsigned* p, unsigned limit) {
    return __builtin_amdgcn_atomic_inc32(p, limit, __ATOMIC_RELAXED, "agent");
}
__device__ __forceinline__ unsigned atomicDec(unsigned* p, unsigned limit) {
    return __builtin_amdgcn_atomic_dec32(p, limit, __ATOMIC_RELAXED, "agent");
}

template <class T> __device__ __forceinline__ T unsafeAtomicAdd(T* p, wp_operand<T> v) {
    [[clang::atomic(no_remote_memory, no_fine_grained_memory, ignore_denormal_mode)]] {
        return __hip_atomic_fetch_add(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    }
}
template <class T> __device__ __forceinline__ T safeAtomicAdd(T* p, wp_operand<T> v) { return atomicAdd(p, v); }
template <class T> __device__ __forceinline__ void atomicAddNoRet(T* p, wp_operand<T> v) { unsafeAtomicAdd(p, v); }
