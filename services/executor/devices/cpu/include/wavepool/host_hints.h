// Calls that say how memory will be used, and what else has no meaning where there is one memory and streams run in
// issue order: all succeed.
#pragma once

#include "wavepool/host_api.h"

typedef enum hipMemoryAdvise {
    hipMemAdviseSetReadMostly = 1,
    hipMemAdviseUnsetReadMostly,
    hipMemAdviseSetPreferredLocation,
    hipMemAdviseUnsetPreferredLocation,
    hipMemAdviseSetAccessedBy,
    hipMemAdviseUnsetAccessedBy,
} hipMemoryAdvise;
typedef enum hipLimit_t { hipLimitStackSize, hipLimitPrintfFifoSize, hipLimitMallocHeapSize } hipLimit_t;

#define hipCpuDeviceId (-1)
#define hipStreamPerThread (static_cast<hipStream_t>(nullptr))

__host__ inline hipError_t hipMemPrefetchAsync(const void*, size_t, int, hipStream_t = nullptr) { return hipSuccess; }
__host__ inline hipError_t hipMemAdvise(const void*, size_t, hipMemoryAdvise, int) { return hipSuccess; }
__host__ inline hipError_t hipDeviceSetLimit(hipLimit_t, size_t) { return hipSuccess; }
__host__ inline hipError_t hipMemset2DAsync(void* target, size_t pitch, int value, size_t width, size_t height,
                                            hipStream_t = nullptr) {
    return hipMemset2D(target, pitch, value, width, height);
}
