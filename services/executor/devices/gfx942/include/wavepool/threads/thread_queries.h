// Where a thread is, as the hardware tells it.
#pragma once

#include "wavepool/qualifiers.h"

#define WP_INDEX __device__ __attribute__((const, always_inline)) inline unsigned
#define WP_DIMENSION(AXIS)                                                                      \
    WP_INDEX __wp_thread_##AXIS() { return __builtin_amdgcn_workitem_id_##AXIS(); }             \
    WP_INDEX __wp_block_##AXIS() { return __builtin_amdgcn_workgroup_id_##AXIS(); }             \
    WP_INDEX __wp_block_dim_##AXIS() { return __builtin_amdgcn_workgroup_size_##AXIS(); }       \
    WP_INDEX __wp_grid_dim_##AXIS() {                                                           \
        return __builtin_amdgcn_grid_size_##AXIS() / __builtin_amdgcn_workgroup_size_##AXIS();  \
    }
WP_DIMENSION(x)
WP_DIMENSION(y)
WP_DIMENSION(z)
#undef WP_DIMENSION
WP_INDEX __wp_lane() { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0)); }
#undef WP_INDEX
