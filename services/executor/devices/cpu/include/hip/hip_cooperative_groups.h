// Cooperative groups within a block: thread_block, tiles, coalesced threads. Groups over the grid cannot synchronise.
#pragma once

#include "hip/hip_runtime.h"

namespace cooperative_groups {

class thread_block {
public:
    __device__ void sync(int line = __builtin_LINE()) const { __syncthreads(line); }
    __device__ unsigned thread_rank() const {
        return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    }
    __device__ unsigned size() const { return blockDim.x * blockDim.y * blockDim.z; }
    __device__ unsigned num_threads() const { return size(); }
    __device__ dim3 thread_index() const { return threadIdx; }
    __device__ dim3 group_index() const { return blockIdx; }
    __device__ dim3 group_dim() const { return blockDim; }
    __device__ dim3 dim_threads() const { return blockDim; }
};
__device__ inline thread_block this_thread_block() { return {}; }

class grid_group {
public:
    __device__ unsigned long long thread_rank() const {
        unsigned long long block = (blockIdx.z * (unsigned long long)gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
        return block * this_thread_block().size() + this_thread_block().thread_rank();
    }
    __device__ unsigned long long size() const {
        return (unsigned long long)gridDim.x * gridDim.y * gridDim.z * this_thread_block().size();
    }
    __device__ unsigned long long num_threads() const { return size(); }
    __device__ unsigned long long num_blocks() const { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
    __device__ bool is_valid() const { return false; }
    template <class T = void> __device__ void sync() const {
        static_assert(sizeof(T*) == 0, "the cpu device cannot synchronise all blocks of a grid: split the kernel instead");
    }
};
__device__ inline grid_group this_grid() { return {}; }

template <unsigned Size, class Parent = void> class thread_block_tile {
    static_assert(Size >= 1 && Size <= 64 && (Size & (Size - 1)) == 0, "a tile has 1, 2, 4, ... or 64 threads");

public:
    __device__ unsigned thread_rank() const { return __lane_id() & (Size - 1); }
    static constexpr __device__ unsigned size() { return Size; }
    static constexpr __device__ unsigned num_threads() { return Size; }
    __device__ unsigned meta_group_rank() const { return this_thread_block().thread_rank() / Size; }
    __device__ unsigned meta_group_size() const { return (this_thread_block().size() + Size - 1) / Size; }
    __device__ void sync(int line = __builtin_LINE()) const { __wp_wave_meet(0, mask(), line); }
    template <class T> __device__ T shfl(T v, int source, int line = __builtin_LINE()) const {
        return wp_exchange(v, wp_source_at(source, Size), mask(), line);
    }
    template <class T> __device__ T shfl_down(T v, unsigned delta, int line = __builtin_LINE()) const {
        return wp_exchange(v, wp_source_down(delta, Size), mask(), line);
    }
    template <class T> __device__ T shfl_up(T v, unsigned delta, int line = __builtin_LINE()) const {
        return wp_exchange(v, wp_source_up(delta, Size), mask(), line);
    }
    template <class T> __device__ T shfl_xor(T v, int bits, int line = __builtin_LINE()) const {
        return wp_exchange(v, wp_source_xor(bits, Size), mask(), line);
    }
    __device__ unsigned long long ballot(int predicate, int line = __builtin_LINE()) const {
        return (wp_ballot(predicate != 0, mask(), line) & mask()) >> first();
    }
    __device__ int any(int predicate, int line = __builtin_LINE()) const { return ballot(predicate, line) != 0; }
    __device__ int all(int predicate, int line = __builtin_LINE()) const { return ballot(!predicate, line) == 0; }

private:
    __device__ unsigned first() const { return __lane_id() & ~(Size - 1); }
    __device__ unsigned long long mask() const { return (Size == 64 ? ~0ull : (1ull << (Size & 63)) - 1) << first(); }
};

template <unsigned Size, class Parent> __device__ inline thread_block_tile<Size> tiled_partition(const Parent&) {
    return {};
}

class coalesced_group {
public:
    __device__ explicit coalesced_group(unsigned long long lanes) : lanes_(lanes) {}
    __device__ unsigned size() const { return __popcll(lanes_); }
    __device__ unsigned num_threads() const { return size(); }
    __device__ unsigned thread_rank() const { return __popcll(lanes_ & ((1ull << __lane_id()) - 1)); }
    __device__ void sync(int line = __builtin_LINE()) const { __wp_wave_meet(0, lanes_, line); }
    template <class T> __device__ T shfl(T v, int rank, int line = __builtin_LINE()) const {
        unsigned long long left = lanes_;
        for (int i = 0; i < rank; ++i) left &= left - 1;
        return wp_exchange(v, left ? __builtin_ctzll(left) : int(__lane_id()), lanes_, line);
    }

private:
    unsigned long long lanes_;
};
__device__ inline coalesced_group coalesced_threads(int line = __builtin_LINE()) {
    return coalesced_group(__activemask(line));
}

template <class T> struct plus {
    __device__ T operator()(T a, T b) const { return a + b; }
};
template <class T> struct greater {
    __device__ T operator()(T a, T b) const { return a > b ? a : b; }
};
template <class T> struct less {
    __device__ T operator()(T a, T b) const { return a < b ? a : b; }
};
template <unsigned Size, class P, class T, class F>
__device__ inline T reduce(const thread_block_tile<Size, P>& tile, T value, F&& combine, int line = __builtin_LINE()) {
    for (unsigned bits = Size / 2; bits > 0; bits /= 2) value = combine(value, tile.shfl_xor(value, int(bits), line));
    return value;
}

template <class Group> __device__ inline void sync(const Group& group, int line = __builtin_LINE()) {
    group.sync(line);
}

}  // namespace cooperative_groups
