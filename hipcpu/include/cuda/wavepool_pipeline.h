// cuda::pipeline: copies are done when they are asked for, so a stage of one thread is always ready, and one that a
// block shares is a barrier.
#pragma once
#include "cuda/wavepool_barrier.h"

namespace cuda {
template <thread_scope Scope> class pipeline {
public:
    __device__ void producer_acquire(int line = __builtin_LINE()) { wait(line); }
    __device__ void producer_commit() {}
    __device__ void consumer_wait(int line = __builtin_LINE()) { wait(line); }
    __device__ void consumer_release() {}
    __device__ bool quit() { return true; }

private:
    __device__ void wait(int line) {
        if constexpr (Scope == thread_scope_block) __syncthreads(line);
    }
};
template <thread_scope Scope, unsigned char Stages> class pipeline_shared_state {};
__device__ inline pipeline<thread_scope_thread> make_pipeline() { return {}; }
template <class Group, thread_scope Scope, unsigned char Stages>
__device__ inline pipeline<Scope> make_pipeline(const Group&, pipeline_shared_state<Scope, Stages>*) {
    return {};
}
template <unsigned char Prior, thread_scope Scope>
__device__ inline void pipeline_consumer_wait_prior(pipeline<Scope>& pipe, int line = __builtin_LINE()) {
    pipe.consumer_wait(line);
}
}  // namespace cuda
