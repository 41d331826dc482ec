// Loads and stores with cache hints, which mean nothing on the host processor.
#pragma once

#include <cstddef>

#include "wavepool/qualifiers.h"
#include "wavepool/threads/synchronisation.h"

// With a pack that stays empty, so that a source's own template of the name is a better match, as it is beside HIP's.
#define WP_LOAD(NAME)                                                                  \
    template <class T, class... None> __device__ __forceinline__ T NAME(const T* p, None...) { \
        static_assert(sizeof...(None) == 0, #NAME " takes an address and nothing else");  \
        return *p;                                                                     \
    }
WP_LOAD(__ldg)
WP_LOAD(__ldca)
WP_LOAD(__ldcg)
WP_LOAD(__ldcs)
WP_LOAD(__ldcv)
WP_LOAD(__ldlu)
#undef WP_LOAD

#define WP_STORE(NAME) \
    template <class T> __device__ __forceinline__ void NAME(T* p, T value) { *p = value; }
WP_STORE(__stcg)
WP_STORE(__stcs)
WP_STORE(__stwb)
WP_STORE(__stwt)
#undef WP_STORE

// Copies from global to shared memory that CUDA can leave running (<cuda_pipeline.h>): done at once here.
__device__ __forceinline__ void __pipeline_memcpy_async(void* target, const void* source, size_t bytes,
                                                        size_t zeros = 0) {
    __builtin_memcpy(target, source, bytes - zeros);
    __builtin_memset(static_cast<char*>(target) + (bytes - zeros), 0, zeros);
}
__device__ __forceinline__ void __pipeline_commit() {}
__device__ __forceinline__ void __pipeline_wait_prior(size_t) {}

__device__ __forceinline__ long long __clock64() { return clock64(); }
__device__ __forceinline__ int __clock() { return static_cast<int>(clock64()); }
// The multiprocessor that a thread runs on: any number does.
__device__ __forceinline__ unsigned __smid() { return 0; }
