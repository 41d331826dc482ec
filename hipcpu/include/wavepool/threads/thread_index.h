// threadIdx, blockIdx, blockDim, gridDim and the wavefront's size.
#pragma once

#include "wavepool/vector_types.h"
#include "wavepool/threads/thread_queries.h"

#define WP_COORDINATES(STRUCT, OBJECT, FUNCTION)                                                                 \
    struct STRUCT {                                                                                              \
        __declspec(property(get = wp_get_x)) unsigned x;                                                         \
        __declspec(property(get = wp_get_y)) unsigned y;                                                         \
        __declspec(property(get = wp_get_z)) unsigned z;                                                         \
        static __device__ __forceinline__ unsigned wp_get_x() { return FUNCTION##_x(); }                         \
        static __device__ __forceinline__ unsigned wp_get_y() { return FUNCTION##_y(); }                         \
        static __device__ __forceinline__ unsigned wp_get_z() { return FUNCTION##_z(); }                         \
        __device__ __forceinline__ operator dim3() const { return {wp_get_x(), wp_get_y(), wp_get_z()}; }        \
        __device__ __forceinline__ operator uint3() const { return {wp_get_x(), wp_get_y(), wp_get_z()}; }       \
        STRUCT(const STRUCT&) = delete;                                                                          \
        STRUCT& operator=(const STRUCT&) = delete;                                                               \
    };                                                                                                           \
    extern const __device__ STRUCT OBJECT;

WP_COORDINATES(wp_thread_index, threadIdx, __wp_thread)
WP_COORDINATES(wp_block_index, blockIdx, __wp_block)
WP_COORDINATES(wp_block_dim, blockDim, __wp_block_dim)
WP_COORDINATES(wp_grid_dim, gridDim, __wp_grid_dim)
#undef WP_COORDINATES

#define hipThreadIdx_x (threadIdx.x)
#define hipThreadIdx_y (threadIdx.y)
#define hipThreadIdx_z (threadIdx.z)
#define hipBlockIdx_x (blockIdx.x)
#define hipBlockIdx_y (blockIdx.y)
#define hipBlockIdx_z (blockIdx.z)
#define hipBlockDim_x (blockDim.x)
#define hipBlockDim_y (blockDim.y)
#define hipBlockDim_z (blockDim.z)
#define hipGridDim_x (gridDim.x)
#define hipGridDim_y (gridDim.y)
#define hipGridDim_z (gridDim.z)

// A wavefront has 64 lanes, as on the MI300X.
static constexpr __device__ int warpSize = 64;
#define __AMDGCN_WAVEFRONT_SIZE 64
#define __AMDGCN_WAVEFRONT_SIZE__ 64

__device__ __forceinline__ unsigned __lane_id() { return __wp_lane(); }
__device__ __forceinline__ unsigned long long __lanemask_eq() { return 1ull << __wp_lane(); }
__device__ __forceinline__ unsigned long long __lanemask_lt() { return __lanemask_eq() - 1; }
__device__ __forceinline__ unsigned long long __lanemask_le() { return __lanemask_lt() | __lanemask_eq(); }
__device__ __forceinline__ unsigned long long __lanemask_gt() { return ~__lanemask_le(); }
__device__ __forceinline__ unsigned long long __lanemask_ge() { return ~__lanemask_lt(); }
