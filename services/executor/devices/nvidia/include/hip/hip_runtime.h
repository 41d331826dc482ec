// HIP's kernel language in CUDA's, for nvcc. A warp has 32 lanes here, and sources that ask for `warpSize` are told so;
// masks of 64 lanes lose their upper half, which no lane is in.
#pragma once

#include <hip/hip_fp16.h>
#include <hip/hip_runtime_api.h>
#include <stdint.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define hipLaunchKernelGGL(kernel, grid, block, shared_bytes, stream, ...) \
  kernel<<<grid, block, shared_bytes, stream>>>(__VA_ARGS__)
#define hipExtLaunchKernelGGL(kernel, grid, block, shared_bytes, stream, start, stop, flags, ...) \
  wavepool_launch_between(start, stop, stream, [&] { kernel<<<grid, block, shared_bytes, stream>>>(__VA_ARGS__); })
#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];
#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define HIP_SYMBOL(symbol) symbol

template <typename Launch>
void wavepool_launch_between(cudaEvent_t start, cudaEvent_t stop, cudaStream_t stream, Launch launch) {
  if (start) cudaEventRecord(start, stream);
  launch();
  if (stop) cudaEventRecord(stop, stream);
}

#define hipThreadIdx_x threadIdx.x
#define hipThreadIdx_y threadIdx.y
#define hipThreadIdx_z threadIdx.z
#define hipBlockIdx_x blockIdx.x
#define hipBlockIdx_y blockIdx.y
#define hipBlockIdx_z blockIdx.z
#define hipBlockDim_x blockDim.x
#define hipBlockDim_y blockDim.y
#define hipBlockDim_z blockDim.z
#define hipGridDim_x gridDim.x
#define hipGridDim_y gridDim.y
#define hipGridDim_z gridDim.z

#ifdef __CUDACC__

// HIP's forms without a mask: all lanes that are active take part.
template <typename T>
__device__ inline T __shfl(T value, int lane, int width = 32) {
  return __shfl_sync(__activemask(), value, lane, width);
}

template <typename T>
__device__ inline T __shfl_up(T value, unsigned delta, int width = 32) {
  return __shfl_up_sync(__activemask(), value, delta, width);
}

template <typename T>
__device__ inline T __shfl_down(T value, unsigned delta, int width = 32) {
  return __shfl_down_sync(__activemask(), value, delta, width);
}

template <typename T>
__device__ inline T __shfl_xor(T value, int mask, int width = 32) {
  return __shfl_xor_sync(__activemask(), value, mask, width);
}

// CUDA declares these names for GPUs of old, and has nothing behind them any more. The macros take no arguments, so that a
// class of that name in CUDA's own headers (__functional/invoke.h has one) is renamed as a whole.
__device__ inline unsigned long long wavepool_ballot(int predicate) { return __ballot_sync(__activemask(), predicate); }
__device__ inline int wavepool_any(int predicate) { return __any_sync(__activemask(), predicate); }
__device__ inline int wavepool_all(int predicate) { return __all_sync(__activemask(), predicate); }
#define __ballot wavepool_ballot
#define __any wavepool_any
#define __all wavepool_all

__device__ inline unsigned __lane_id() {
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}

__device__ inline void __builtin_amdgcn_wave_barrier() { __syncwarp(__activemask()); }

#endif
