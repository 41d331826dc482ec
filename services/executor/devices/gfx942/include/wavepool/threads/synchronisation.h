// Barriers and fences, as the memory model of AMD's compiler has them.
#pragma once

#include "wavepool/qualifiers.h"

// What a grid's barrier does beside waiting, which is memory's business and takes no registers.
__device__ __forceinline__ int __wp_is_cooperative() { return 1; }
__device__ __forceinline__ void __wp_grid_barrier() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent"); }

__device__ __forceinline__ void __syncthreads(int = 0) {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

__device__ __forceinline__ int wp_block_total(int value) {
    __shared__ int total;
    total = 0;
    __syncthreads();
    __hip_atomic_fetch_add(&total, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
    __syncthreads();
    return total;
}
__device__ __forceinline__ int __syncthreads_count(int predicate, int = 0) { return wp_block_total(predicate != 0); }
__device__ __forceinline__ int __syncthreads_and(int predicate, int = 0) { return wp_block_total(predicate == 0) == 0; }
__device__ __forceinline__ int __syncthreads_or(int predicate, int = 0) { return wp_block_total(predicate != 0) != 0; }

__device__ __forceinline__ void __threadfence() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent"); }
__device__ __forceinline__ void __threadfence_block() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"); }
__device__ __forceinline__ void __threadfence_system() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, ""); }

__device__ __forceinline__ long long clock64() { return (long long)__builtin_readcyclecounter(); }
__device__ __forceinline__ long long wall_clock64() { return (long long)__builtin_readsteadycounter(); }
__device__ __forceinline__ void __trap() { __builtin_trap(); }
__device__ __forceinline__ void __nanosleep(unsigned) { __builtin_amdgcn_s_sleep(1); }
