// cuda::atomic and cuda::atomic_ref: C++'s, with a scope that says nothing here.
#pragma once
#include "cuda/wavepool_std.h"

namespace cuda {
enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };
using ::std::memory_order;
using ::std::memory_order_acq_rel;
using ::std::memory_order_acquire;
using ::std::memory_order_relaxed;
using ::std::memory_order_release;
using ::std::memory_order_seq_cst;

template <class T, thread_scope = thread_scope_system> struct atomic : ::std::atomic<T> {
    atomic() = default;
    __host__ __device__ constexpr atomic(T value) : ::std::atomic<T>(value) {}
    using ::std::atomic<T>::operator=;
    __device__ T fetch_max(T v, memory_order order = memory_order_seq_cst) { return extreme(v, v, order, true); }
    __device__ T fetch_min(T v, memory_order order = memory_order_seq_cst) { return extreme(v, v, order, false); }

private:
    __device__ T extreme(T v, T wanted, memory_order order, bool largest) {
        T seen = this->load(memory_order_relaxed);
        while ((largest ? v > seen : v < seen) && !this->compare_exchange_weak(seen, wanted, order)) {}
        return seen;
    }
};
template <class T, thread_scope = thread_scope_system> struct atomic_ref : ::std::atomic_ref<T> {
    __host__ __device__ explicit atomic_ref(T& value) : ::std::atomic_ref<T>(value) {}
    using ::std::atomic_ref<T>::operator=;
    __device__ T fetch_max(T v, memory_order order = memory_order_seq_cst) const { return extreme(v, order, true); }
    __device__ T fetch_min(T v, memory_order order = memory_order_seq_cst) const { return extreme(v, order, false); }

private:
    __device__ T extreme(T v, memory_order order, bool largest) const {
        T seen = this->load(memory_order_relaxed);
        while ((largest ? v > seen : v < seen) && !this->compare_exchange_weak(seen, v, order)) {}
        return seen;
    }
};
__device__ inline void atomic_thread_fence(memory_order, thread_scope = thread_scope_system) { __threadfence(); }
}  // namespace cuda
