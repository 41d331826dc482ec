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

__device__ __forceinline__ long long __clock64() { return clock64(); }
__device__ __forceinline__ int __clock() { return static_cast<int>(clock64()); }
// The multiprocessor that a thread runs on: any number does.
__device__ __forceinline__ unsigned __smid() { return 0; }
