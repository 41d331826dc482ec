// Loads and stores with cache hints, which mean nothing on the host processor.
#pragma once

#include "wavepool/qualifiers.h"

#define WP_LOAD(NAME) \
    template <class T> __device__ __forceinline__ T NAME(const T* p) { return *p; }
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
