// The cooperative groups of a whole block and of the grid.
#pragma once

#include "wavepool/threads/cross_lane.h"
#include "wavepool/threads/synchronisation.h"
#include "wavepool/threads/thread_index.h"

namespace cooperative_groups {

class thread_block {
public:
    static __device__ void sync(int line = __builtin_LINE()) { __syncthreads(line); }
    static __device__ unsigned thread_rank() {
        return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    }
    static __device__ unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
    static __device__ unsigned num_threads() { return size(); }
    static __device__ dim3 thread_index() { return threadIdx; }
    static __device__ dim3 group_index() { return blockIdx; }
    static __device__ dim3 group_dim() { return blockDim; }
    static __device__ dim3 dim_threads() { return blockDim; }
    static constexpr __device__ bool is_valid() { return true; }
};
__device__ inline thread_block this_thread_block() { return {}; }

class grid_group {
public:
    __device__ unsigned long long block_rank() const {
        return (blockIdx.z * (unsigned long long)gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    }
    __device__ unsigned long long thread_rank() const {
        return block_rank() * thread_block::size() + thread_block::thread_rank();
    }
    __device__ unsigned long long size() const { return num_blocks() * thread_block::size(); }
    __device__ unsigned long long num_threads() const { return size(); }
    __device__ unsigned long long num_blocks() const { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
    __device__ dim3 group_dim() const { return gridDim; }
    __device__ dim3 dim_blocks() const { return gridDim; }
    __device__ dim3 block_index() const { return blockIdx; }
    __device__ bool is_valid() const { return __wp_is_cooperative(); }
    __device__ void sync(int line = __builtin_LINE()) const {
        __syncthreads(line);
        if (thread_block::thread_rank() == 0) __wp_grid_barrier();
        __syncthreads(line);
    }
};
__device__ inline grid_group this_grid() { return {}; }

}  // namespace cooperative_groups
