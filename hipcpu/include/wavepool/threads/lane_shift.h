// Which lane each lane of a wavefront reads, where most of them read the one that is so many further.
#pragma once

#include "wavepool/threads/thread_queries.h"

struct wp_lane_shift {
    int source;
    // Where these are constants, a lane that reads from a higher one reads from that so many further; of a lower one, so
    // many back. 0: unknown, or none does.
    int further, back;

    __device__ __forceinline__ operator int() const { return source; }
    __device__ __forceinline__ bool known() const {
        return (__builtin_constant_p(further) && further > 0 && further < 64) ||
               (__builtin_constant_p(back) && back > 0 && back < 64);
    }
};
