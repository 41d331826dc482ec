// Calls that say how memory will be used, and what else has no meaning where there is one memory and streams run in
// issue order: all succeed.
#pragma once

#include "wavepool/host/api.h"

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
#define hipStreamLegacy (static_cast<hipStream_t>(nullptr))

__host__ inline hipError_t hipMemPrefetchAsync(const void*, size_t, int, hipStream_t = nullptr) { return hipSuccess; }
__host__ inline hipError_t hipMemAdvise(const void*, size_t, hipMemoryAdvise, int) { return hipSuccess; }
__host__ inline hipError_t hipDeviceSetLimit(hipLimit_t, size_t) { return hipSuccess; }

typedef enum hipMemPoolAttr { hipMemPoolAttrReleaseThreshold = 4, hipMemPoolAttrReservedMemCurrent = 5 } hipMemPoolAttr;
__host__ inline hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t* pool, int) { return *pool = nullptr, hipSuccess; }
__host__ inline hipError_t hipDeviceGetMemPool(hipMemPool_t* pool, int) { return *pool = nullptr, hipSuccess; }
__host__ inline hipError_t hipDeviceSetMemPool(int, hipMemPool_t) { return hipSuccess; }
__host__ inline hipError_t hipMemPoolSetAttribute(hipMemPool_t, hipMemPoolAttr, void*) { return hipSuccess; }
__host__ inline hipError_t hipMemPoolTrimTo(hipMemPool_t, size_t) { return hipSuccess; }
__host__ inline hipError_t hipMallocFromPoolAsync(void** pointer, size_t bytes, hipMemPool_t, hipStream_t stream) {
    return hipMallocAsync(pointer, bytes, stream);
}

__host__ inline hipError_t hipStreamGetFlags(hipStream_t, unsigned* flags) { return *flags = 0, hipSuccess; }
__host__ inline hipError_t hipStreamGetDevice(hipStream_t, hipDevice_t* device) { return *device = 0, hipSuccess; }
__host__ inline int hipGetStreamDeviceId(hipStream_t) { return 0; }
__host__ inline hipError_t hipStreamGetPriority(hipStream_t, int* priority) { return *priority = 0, hipSuccess; }
__host__ inline hipError_t hipStreamAttachMemAsync(hipStream_t, void*, size_t = 0, unsigned = hipMemAttachSingle) {
    return hipSuccess;
}
__host__ inline hipError_t hipDeviceGetLimit(size_t* value, hipLimit_t) {
    wavepool_only_a_gpu_knows("hipDeviceGetLimit", "do without it");
    return *value = size_t(8) << 20, hipSuccess;
}
__host__ inline hipError_t hipDeviceCanAccessPeer(int* can, int, int) {
    wavepool_only_a_gpu_knows("hipDeviceCanAccessPeer", "do without it");
    return *can = 0, hipSuccess;
}
__host__ inline hipError_t hipDeviceEnablePeerAccess(int, unsigned) { return hipErrorInvalidDevice; }
__host__ inline hipError_t hipDeviceDisablePeerAccess(int) { return hipErrorInvalidDevice; }
__host__ inline hipError_t hipMemcpyPeer(void* target, int, const void* source, int, size_t bytes) {
    return hipMemcpy(target, source, bytes, hipMemcpyDeviceToDevice);
}
__host__ inline hipError_t hipMemcpyPeerAsync(void* target, int, const void* source, int, size_t bytes,
                                              hipStream_t stream = nullptr) {
    return hipMemcpyAsync(target, source, bytes, hipMemcpyDeviceToDevice, stream);
}
__host__ inline hipError_t hipHostGetFlags(unsigned* flags, void*) { return *flags = 0, hipSuccess; }
__host__ inline hipError_t hipProfilerStart() { return hipSuccess; }
__host__ inline hipError_t hipProfilerStop() { return hipSuccess; }
