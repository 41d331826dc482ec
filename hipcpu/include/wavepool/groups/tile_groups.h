// Cooperative groups within a wavefront: tiles of a size known when compiling, those of a size known at run time
// (thread_group), and the lanes that are there (coalesced_group).
#pragma once

#include "wavepool/groups/block_groups.h"

namespace cooperative_groups {

// The lanes `all`, numbered in their order: what every group within a wavefront can do.
class wp_lanes {
public:
    __device__ explicit wp_lanes(unsigned long long all) : all_(all) {}
    __device__ unsigned long long mask() const { return all_; }
    __device__ unsigned count() const { return __popcll(all_); }
    __device__ unsigned rank() const { return __popcll(all_ & ((1ull << __lane_id()) - 1)); }
    // The bits of `lanes`, packed so that bit i is the lane of rank i.
    __device__ unsigned long long packed(unsigned long long lanes) const {
        unsigned long long result = 0, bit = 1;
        for (unsigned long long left = all_; left; left &= left - 1, bit <<= 1)
            if (lanes & left & -left) result |= bit;
        return result;
    }
    __device__ int lane_of(unsigned rank) const {
        unsigned long long left = all_;
        for (unsigned i = 0; i < rank && left; ++i) left &= left - 1;
        return left ? __builtin_ctzll(left) : int(__lane_id());
    }

private:
    unsigned long long all_;
};

class coalesced_group {
public:
    __device__ explicit coalesced_group(unsigned long long lanes, unsigned rank = 0, unsigned groups = 1)
        : lanes_(lanes), meta_rank_(rank), meta_size_(groups) {}
    __device__ unsigned size() const { return lanes_.count(); }
    __device__ unsigned num_threads() const { return size(); }
    __device__ unsigned thread_rank() const { return lanes_.rank(); }
    __device__ unsigned meta_group_rank() const { return meta_rank_; }
    __device__ unsigned meta_group_size() const { return meta_size_; }
    __device__ unsigned long long wp_mask() const { return lanes_.mask(); }
    __device__ void sync(int line = __builtin_LINE()) const { __wp_wave_barrier(0, lanes_.mask(), line); }
    template <class T> __device__ T shfl(T v, unsigned rank, int line = __builtin_LINE()) const {
        return wp_exchange(v, lanes_.lane_of(rank), lanes_.mask(), line);
    }
    template <class T> __device__ T shfl_down(T v, unsigned delta, int line = __builtin_LINE()) const {
        unsigned rank = thread_rank() + delta;
        return shfl(v, rank < size() ? rank : thread_rank(), line);
    }
    template <class T> __device__ T shfl_up(T v, unsigned delta, int line = __builtin_LINE()) const {
        return shfl(v, thread_rank() >= delta ? thread_rank() - delta : thread_rank(), line);
    }
    __device__ unsigned long long ballot(int predicate, int line = __builtin_LINE()) const {
        return lanes_.packed(wp_ballot(predicate != 0, lanes_.mask(), line));
    }
    __device__ int any(int predicate, int line = __builtin_LINE()) const { return ballot(predicate, line) != 0; }
    __device__ int all(int predicate, int line = __builtin_LINE()) const { return ballot(!predicate, line) == 0; }
    template <class T> __device__ unsigned long long match_any(T v, int line = __builtin_LINE()) const {
        return lanes_.packed(wp_match(v, lanes_.mask(), line));
    }

private:
    wp_lanes lanes_;
    unsigned meta_rank_, meta_size_;
};
__device__ inline coalesced_group coalesced_threads(int line = __builtin_LINE()) {
    return coalesced_group(__activemask(line));
}

// The second parameter says what a tile was cut from; code that does not care names the base, where it is void.
template <unsigned Size, class Parent = void> class thread_block_tile;

template <unsigned Size> class thread_block_tile<Size, void> {
    static_assert(Size >= 1 && Size <= 64 && (Size & (Size - 1)) == 0, "a tile has 1, 2, 4, ... or 64 threads");

public:
    static __device__ unsigned thread_rank() { return __lane_id() & (Size - 1); }
    static constexpr __device__ unsigned size() { return Size; }
    static constexpr __device__ unsigned num_threads() { return Size; }
    __device__ unsigned meta_group_rank() const { return thread_block::thread_rank() / Size; }
    __device__ unsigned meta_group_size() const { return (thread_block::size() + Size - 1) / Size; }
    __device__ unsigned long long wp_mask() const {
        return (Size == 64 ? ~0ull : (1ull << (Size & 63)) - 1) << first();
    }
    __device__ void sync(int line = __builtin_LINE()) const { __wp_wave_barrier(0, wp_mask(), line); }
    template <class T> __device__ T shfl(T v, int source, int line = __builtin_LINE()) const {
        return wp_exchange(v, wp_source_at(source, Size), wp_mask(), line);
    }
    template <class T> __device__ T shfl_down(T v, unsigned delta, int line = __builtin_LINE()) const {
        return wp_exchange(v, wp_source_down(delta, Size), wp_mask(), line);
    }
    template <class T> __device__ T shfl_up(T v, unsigned delta, int line = __builtin_LINE()) const {
        return wp_exchange(v, wp_source_up(delta, Size), wp_mask(), line);
    }
    template <class T> __device__ T shfl_xor(T v, int bits, int line = __builtin_LINE()) const {
        return wp_exchange(v, wp_source_xor(bits, Size), wp_mask(), line);
    }
    __device__ unsigned long long ballot(int predicate, int line = __builtin_LINE()) const {
        return (wp_ballot(predicate != 0, wp_mask(), line) & wp_mask()) >> first();
    }
    __device__ int any(int predicate, int line = __builtin_LINE()) const { return ballot(predicate, line) != 0; }
    __device__ int all(int predicate, int line = __builtin_LINE()) const { return ballot(!predicate, line) == 0; }
    template <class T> __device__ unsigned long long match_any(T v, int line = __builtin_LINE()) const {
        return (wp_match(v, wp_mask(), line) & wp_mask()) >> first();
    }

private:
    __device__ unsigned first() const { return __lane_id() & ~(Size - 1); }
};
template <unsigned Size, class Parent> class thread_block_tile : public thread_block_tile<Size, void> {
public:
    thread_block_tile() = default;
    template <class Other> __device__ thread_block_tile(const thread_block_tile<Size, Other>&) {}
};

template <unsigned Size, class Parent>
__device__ inline thread_block_tile<Size, Parent> tiled_partition(const Parent&) {
    return {};
}
template <unsigned Size> __device__ inline thread_block_tile<Size> this_thread_tile() { return {}; }

// A block, or a tile of `size` threads.
class thread_group {
public:
    __device__ thread_group(const thread_block&) : size_(0) {}
    template <unsigned Size, class P> __device__ thread_group(const thread_block_tile<Size, P>&) : size_(Size) {}
    __device__ explicit thread_group(unsigned size) : size_(size) {}
    __device__ unsigned size() const { return size_ ? size_ : thread_block::size(); }
    __device__ unsigned num_threads() const { return size(); }
    __device__ unsigned thread_rank() const {
        return size_ ? __lane_id() & (size_ - 1) : thread_block::thread_rank();
    }
    __device__ bool is_valid() const { return true; }
    __device__ void sync(int line = __builtin_LINE()) const {
        if (size_ == 0) __syncthreads(line);
        else __wp_wave_barrier(0, (size_ >= 64 ? ~0ull : (1ull << size_) - 1) << (__lane_id() & ~(size_ - 1)), line);
    }

private:
    unsigned size_;
};
template <class Parent> __device__ inline thread_group tiled_partition(const Parent&, unsigned size) {
    return thread_group(size);
}

}  // namespace cooperative_groups
