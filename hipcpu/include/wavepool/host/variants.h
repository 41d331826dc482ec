// Rarer spellings of what the host API has: asynchronous forms of the driver-style copies, and questions about the
// device that sources ask and then ignore.
#pragma once

#include <cstring>

#include "wavepool/host/api.h"

#define WP_API __host__ inline hipError_t
WP_API hipMemcpyWithStream(void* target, const void* source, size_t bytes, hipMemcpyKind kind, hipStream_t stream) {
    return hipMemcpyAsync(target, source, bytes, kind, stream);
}
WP_API hipMemcpyHtoDAsync(hipDeviceptr_t target, void* source, size_t bytes, hipStream_t stream) {
    return hipMemcpyAsync(target, source, bytes, hipMemcpyHostToDevice, stream);
}
WP_API hipMemcpyDtoHAsync(void* target, hipDeviceptr_t source, size_t bytes, hipStream_t stream) {
    return hipMemcpyAsync(target, source, bytes, hipMemcpyDeviceToHost, stream);
}
WP_API hipMemcpyDtoDAsync(hipDeviceptr_t target, hipDeviceptr_t source, size_t bytes, hipStream_t stream) {
    return hipMemcpyAsync(target, source, bytes, hipMemcpyDeviceToDevice, stream);
}

WP_API hipDeviceTotalMem(size_t* bytes, hipDevice_t) {
    size_t free_bytes;
    return hipMemGetInfo(&free_bytes, bytes);
}
WP_API hipDeviceComputeCapability(int* major, int* minor, hipDevice_t device) {
    hipDeviceGetAttribute(major, hipDeviceAttributeComputeCapabilityMajor, device);
    return hipDeviceGetAttribute(minor, hipDeviceAttributeComputeCapabilityMinor, device);
}
WP_API hipDeviceGetPCIBusId(char* name, int length, int) {
    wavepool_only_a_gpu_knows("hipDeviceGetPCIBusId", "do without it");
    if (!name || length <= 0) return hipErrorInvalidValue;
    return strncpy(name, "0000:00:00.0", size_t(length)), name[length - 1] = '\0', hipSuccess;
}
WP_API hipGetDeviceFlags(unsigned* flags) {
    wavepool_only_a_gpu_knows("hipGetDeviceFlags", "do without it");
    return *flags = hipDeviceScheduleAuto, hipSuccess;
}
WP_API hipDeviceGetCacheConfig(hipFuncCache_t* config) {
    wavepool_only_a_gpu_knows("hipDeviceGetCacheConfig", "do without it");
    return *config = hipFuncCachePreferNone, hipSuccess;
}
WP_API hipDeviceGetSharedMemConfig(hipSharedMemConfig* config) {
    wavepool_only_a_gpu_knows("hipDeviceGetSharedMemConfig", "do without it");
    return *config = hipSharedMemBankSizeFourByte, hipSuccess;
}
WP_API hipExtGetLastError() { return hipGetLastError(); }

// A context is the device here, and there is one.
typedef struct ihipCtx_t* hipCtx_t;
WP_API hipCtxGetCurrent(hipCtx_t* context) { return *context = nullptr, hipSuccess; }
WP_API hipCtxSetCurrent(hipCtx_t) { return hipSuccess; }
WP_API hipCtxGetDevice(hipDevice_t* device) { return *device = 0, hipSuccess; }
WP_API hipCtxSynchronize() { return hipDeviceSynchronize(); }

#define hipDeviceProp_tR0600 hipDeviceProp_t
#define hipGetDevicePropertiesR0600 hipGetDeviceProperties
#undef WP_API
