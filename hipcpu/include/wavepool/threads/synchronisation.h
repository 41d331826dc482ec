// Barriers and fences.
#pragma once

#include "wavepool/qualifiers.h"

extern "C" {
// Every thread of the block that has not ended waits here; `predicate` is counted over those that came.
// `line` is the source line, for reports.
__device__ void __wp_block_barrier(int predicate, int line);
// Results of the caller's last __wp_block_barrier.
__device__ __attribute__((pure, nothrow)) int __wp_block_count(void);
__device__ __attribute__((pure, nothrow)) int __wp_block_arrived(void);
// Whether the kernel was launched cooperatively; only then all blocks can wait for each other, one thread for each.
__device__ int __wp_is_cooperative(void);
__device__ void __wp_grid_barrier(void);
}

__device__ __forceinline__ void __syncthreads(int line = __builtin_LINE()) { __wp_block_barrier(0, line); }

__device__ __forceinline__ int __syncthreads_count(int predicate, int line = __builtin_LINE()) {
    __wp_block_barrier(predicate != 0, line);
    return __wp_block_count();
}

__device__ __forceinline__ int __syncthreads_and(int predicate, int line = __builtin_LINE()) {
    __wp_block_barrier(predicate != 0, line);
    return __wp_block_count() == __wp_block_arrived();
}

__device__ __forceinline__ int __syncthreads_or(int predicate, int line = __builtin_LINE()) {
    __wp_block_barrier(predicate != 0, line);
    return __wp_block_count() != 0;
}

__device__ __forceinline__ void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
__device__ __forceinline__ void __threadfence_block() { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
__device__ __forceinline__ void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

__device__ __forceinline__ void __builtin_amdgcn_s_barrier(int line = __builtin_LINE()) { __syncthreads(line); }
__device__ __forceinline__ void __builtin_amdgcn_s_sleep(int) {}
template <class... S> __device__ __forceinline__ void __builtin_amdgcn_fence(unsigned, const char*, S...) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

__device__ __forceinline__ long long clock64() { return static_cast<long long>(__builtin_readcyclecounter()); }
__device__ __forceinline__ long long wall_clock64() { return clock64(); }
__device__ __forceinline__ void __trap() { __builtin_trap(); }
__device__ __forceinline__ void __nanosleep(unsigned) {}
