// What cooperative groups do together: reduce, scan, partition, copy.
#pragma once

#include <cstring>

#include "wavepool/groups/tile_groups.h"

namespace cooperative_groups {

#define WP_OPERATION(NAME, EXPRESSION)                                          \
    template <class T> struct NAME {                                            \
        __device__ T operator()(T a, T b) const { return EXPRESSION; }          \
    };
WP_OPERATION(plus, a + b)
WP_OPERATION(greater, a > b ? a : b)
WP_OPERATION(less, a < b ? a : b)
WP_OPERATION(bit_and, a & b)
WP_OPERATION(bit_or, a | b)
WP_OPERATION(bit_xor, a ^ b)
#undef WP_OPERATION

template <unsigned Size, class P, class T, class F>
__device__ inline T reduce(const thread_block_tile<Size, P>& tile, T value, F&& combine, int line = __builtin_LINE()) {
    for (unsigned bits = Size / 2; bits > 0; bits /= 2) value = combine(value, tile.shfl_xor(value, int(bits), line));
    return value;
}
template <class T, class F>
__device__ inline T reduce(const coalesced_group& group, T value, F&& combine, int line = __builtin_LINE()) {
    T result = group.shfl(value, 0, line);
    for (unsigned rank = 1; rank < group.size(); ++rank) result = combine(result, group.shfl(value, rank, line));
    return result;
}

template <class Group, class T, class F>
__device__ inline T inclusive_scan(const Group& group, T value, F&& combine, int line = __builtin_LINE()) {
    for (unsigned delta = 1; delta < group.size(); delta *= 2) {
        T before = group.shfl_up(value, delta, line);
        if (group.thread_rank() >= delta) value = combine(before, value);
    }
    return value;
}
// The first thread gets T(), as a plus would want it.
template <class Group, class T, class F>
__device__ inline T exclusive_scan(const Group& group, T value, F&& combine, int line = __builtin_LINE()) {
    T before = group.shfl_up(inclusive_scan(group, value, combine, line), 1, line);
    return group.thread_rank() == 0 ? T() : before;
}
template <class Group, class T> __device__ inline T inclusive_scan(const Group& group, T value) {
    return inclusive_scan(group, value, plus<T>());
}
template <class Group, class T> __device__ inline T exclusive_scan(const Group& group, T value) {
    return exclusive_scan(group, value, plus<T>());
}

template <class Group>
__device__ inline coalesced_group binary_partition(const Group& group, bool predicate, int line = __builtin_LINE()) {
    unsigned long long lanes = wp_ballot(predicate, group.wp_mask(), line) & group.wp_mask();
    return coalesced_group(predicate ? lanes : group.wp_mask() & ~lanes, predicate, 2);
}
template <class Group, class T>
__device__ inline coalesced_group labeled_partition(const Group& group, T label, int line = __builtin_LINE()) {
    return coalesced_group(wp_match(label, group.wp_mask(), line) & group.wp_mask());
}

template <class Group, class F> __device__ inline void invoke_one(const Group& group, F&& function) {
    if (group.thread_rank() == 0) function();
}

// Each thread copies its part at once; a sync of the group must come before the bytes are read, and `wait` is one.
template <class Group>
__device__ inline void memcpy_async(const Group& group, void* target, const void* source, size_t bytes) {
    size_t at = group.thread_rank() * sizeof(int), step = group.size() * sizeof(int);
    for (; at < bytes; at += step)
        std::memcpy(static_cast<char*>(target) + at, static_cast<const char*>(source) + at,
                    bytes - at < sizeof(int) ? bytes - at : sizeof(int));
}
template <class Group> __device__ inline void wait(const Group& group, int line = __builtin_LINE()) {
    group.sync(line);
}
template <unsigned Stages, class Group>
__device__ inline void wait_prior(const Group& group, int line = __builtin_LINE()) {
    group.sync(line);
}

template <class Group> __device__ inline void sync(const Group& group, int line = __builtin_LINE()) {
    group.sync(line);
}

}  // namespace cooperative_groups
