// cuda::barrier over the threads of a block: all of them arrive, and whoever waits has arrived before.
#pragma once
#include "cooperative_groups.h"
#include "cuda/wavepool_atomic.h"

namespace cuda {
template <thread_scope Scope, class Completion = void> class barrier {
    static_assert(Scope == thread_scope_block, "the cpu device has barriers of one block only");

public:
    using arrival_token = unsigned;
    barrier() = default;
    __device__ explicit barrier(long) {}
    __device__ arrival_token arrive(long = 1) { return 0; }
    __device__ void wait(arrival_token, int line = __builtin_LINE()) const { __syncthreads(line); }
    __device__ void arrive_and_wait(int line = __builtin_LINE()) { __syncthreads(line); }
};
template <thread_scope S, class C> __device__ inline void init(barrier<S, C>*, long) {}

template <size_t Alignment> struct aligned_size_t {
    size_t value;
    __host__ __device__ constexpr explicit aligned_size_t(size_t bytes) : value(bytes) {}
    __host__ __device__ constexpr operator size_t() const { return value; }
};
template <class Waiter>
__device__ inline void memcpy_async(void* target, const void* source, size_t bytes, Waiter&) {
    __builtin_memcpy(target, source, bytes);
}
template <class Group, class Waiter>
__device__ inline void memcpy_async(const Group& group, void* target, const void* source, size_t bytes, Waiter&) {
    cooperative_groups::memcpy_async(group, target, source, bytes);
}
}  // namespace cuda
