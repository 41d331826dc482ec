// The words that HIP adds to C++, as clang's attributes.
#pragma once

#if defined(__HIP__)
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
// Clang takes no notice of bounds for a processor; the annotation is for `launch_bounds.py`.
#if defined(__HIP_DEVICE_COMPILE__)
#define WP_NOTED_BOUNDS(THREADS) __attribute__((annotate("wavepool.launch_bounds", int(THREADS))))
#else
#define WP_NOTED_BOUNDS(THREADS)
#endif
#define WP_LAUNCH_BOUNDS_1(THREADS) __attribute__((launch_bounds(THREADS))) WP_NOTED_BOUNDS(THREADS)
#define WP_LAUNCH_BOUNDS_2(THREADS, BLOCKS) __attribute__((launch_bounds(THREADS, BLOCKS))) WP_NOTED_BOUNDS(THREADS)
// A third number is for clusters of blocks, which only NVIDIA has.
#define WP_LAUNCH_BOUNDS_3(THREADS, SECOND, CLUSTER) WP_LAUNCH_BOUNDS_2(THREADS, SECOND)
#define WP_LAUNCH_BOUNDS_OF(ONE, TWO, THREE, CHOSEN, ...) CHOSEN
#define __launch_bounds__(...) \
    WP_LAUNCH_BOUNDS_OF(__VA_ARGS__, WP_LAUNCH_BOUNDS_3, WP_LAUNCH_BOUNDS_2, WP_LAUNCH_BOUNDS_1)(__VA_ARGS__)
#else
#define __host__
#define __device__
#define __launch_bounds__(...)
#endif

#define __align__(BYTES) __attribute__((aligned(BYTES)))
#define __grid_constant__
#define __inline_hint__
#define __maxnreg__(COUNT)
#define __forceinline__ inline __attribute__((always_inline))
#define __hip_inline__ __host__ __device__ inline __attribute__((always_inline))
#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define HIP_SYMBOL(symbol) symbol
#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];
#define HIP_DYNAMIC_SHARED_ATTRIBUTE
