// CUDA's atomicAdd of float2 and float4: each element on its own.
#pragma once

#include "wavepool/threads/atomics.h"
#include "wavepool/vector_types.h"

__device__ __forceinline__ float2 atomicAdd(float2* p, float2 v) {
    return {atomicAdd(&p->x, v.x), atomicAdd(&p->y, v.y)};
}
__device__ __forceinline__ float4 atomicAdd(float4* p, float4 v) {
    return {atomicAdd(&p->x, v.x), atomicAdd(&p->y, v.y), atomicAdd(&p->z, v.z), atomicAdd(&p->w, v.w)};
}
