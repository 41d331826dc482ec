// Where a thread is: what threadIdx, blockIdx, blockDim, gridDim and the lane number are made of.
#pragma once

#include "wavepool/qualifiers.h"

// The join replaces calls of these; none of them is a real function.
extern "C" {
#define WP_INDEX __device__ __attribute__((const, nothrow)) unsigned
WP_INDEX __wp_thread_x(void);
WP_INDEX __wp_thread_y(void);
WP_INDEX __wp_thread_z(void);
WP_INDEX __wp_block_x(void);
WP_INDEX __wp_block_y(void);
WP_INDEX __wp_block_z(void);
WP_INDEX __wp_block_dim_x(void);
WP_INDEX __wp_block_dim_y(void);
WP_INDEX __wp_block_dim_z(void);
WP_INDEX __wp_grid_dim_x(void);
WP_INDEX __wp_grid_dim_y(void);
WP_INDEX __wp_grid_dim_z(void);
WP_INDEX __wp_lane(void);
#undef WP_INDEX
}
