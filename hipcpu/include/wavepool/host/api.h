// The functions of the host API that the `cpu` device implements. Streams run synchronously, in issue order.
#pragma once

#include "wavepool/host/types.h"

#define WP_API __host__

extern "C" {
WP_API hipError_t hipInit(unsigned flags);
WP_API hipError_t hipGetLastError(void);
WP_API hipError_t hipPeekAtLastError(void);
WP_API const char* hipGetErrorString(hipError_t error);
WP_API const char* hipGetErrorName(hipError_t error);

WP_API hipError_t hipGetDeviceCount(int* count);
WP_API hipError_t hipGetDevice(int* device);
WP_API hipError_t hipSetDevice(int device);
WP_API hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int device);
WP_API hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int device);
WP_API hipError_t hipDeviceGetName(char* name, int length, hipDevice_t device);
WP_API hipError_t hipDeviceGet(hipDevice_t* device, int ordinal);
WP_API hipError_t hipDeviceSynchronize(void);
WP_API hipError_t hipDeviceReset(void);
WP_API hipError_t hipSetDeviceFlags(unsigned flags);
WP_API hipError_t hipDeviceSetCacheConfig(hipFuncCache_t config);
WP_API hipError_t hipDeviceSetSharedMemConfig(hipSharedMemConfig config);
WP_API hipError_t hipDriverGetVersion(int* version);
WP_API hipError_t hipRuntimeGetVersion(int* version);
// Ends a recording for a GPU, whose answer nobody knows while it is made; `instead` is what the author can do.
WP_API void wavepool_only_a_gpu_knows(const char* question, const char* instead);
WP_API hipError_t hipMemGetInfo(size_t* free_bytes, size_t* total_bytes);

WP_API hipError_t hipMalloc(void** pointer, size_t bytes);
WP_API hipError_t hipMallocAsync(void** pointer, size_t bytes, hipStream_t stream);
WP_API hipError_t hipMallocManaged(void** pointer, size_t bytes, unsigned flags);
WP_API hipError_t hipExtMallocWithFlags(void** pointer, size_t bytes, unsigned flags);
WP_API hipError_t hipMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height);
WP_API hipError_t hipHostMalloc(void** pointer, size_t bytes, unsigned flags);
WP_API hipError_t hipFree(void* pointer);
WP_API hipError_t hipFreeAsync(void* pointer, hipStream_t stream);
WP_API hipError_t hipHostFree(void* pointer);
WP_API hipError_t hipHostRegister(void* pointer, size_t bytes, unsigned flags);
WP_API hipError_t hipHostUnregister(void* pointer);
WP_API hipError_t hipHostGetDevicePointer(void** device_pointer, void* host_pointer, unsigned flags);
WP_API hipError_t hipPointerGetAttributes(hipPointerAttribute_t* attributes, const void* pointer);

WP_API hipError_t hipMemcpy(void* target, const void* source, size_t bytes, hipMemcpyKind kind);
WP_API hipError_t hipMemcpyAsync(void* target, const void* source, size_t bytes, hipMemcpyKind kind,
                                 hipStream_t stream = nullptr);
WP_API hipError_t hipMemcpyHtoD(hipDeviceptr_t target, void* source, size_t bytes);
WP_API hipError_t hipMemcpyDtoH(void* target, hipDeviceptr_t source, size_t bytes);
WP_API hipError_t hipMemcpyDtoD(hipDeviceptr_t target, hipDeviceptr_t source, size_t bytes);
WP_API hipError_t hipMemcpy2D(void* target, size_t target_pitch, const void* source, size_t source_pitch, size_t width,
                              size_t height, hipMemcpyKind kind);
WP_API hipError_t hipMemcpy2DAsync(void* target, size_t target_pitch, const void* source, size_t source_pitch,
                                   size_t width, size_t height, hipMemcpyKind kind, hipStream_t stream = nullptr);
WP_API hipError_t hipMemset(void* target, int value, size_t bytes);
WP_API hipError_t hipMemsetAsync(void* target, int value, size_t bytes, hipStream_t stream = nullptr);
WP_API hipError_t hipMemset2DAsync(void* target, size_t pitch, int value, size_t width, size_t height,
                                   hipStream_t stream = nullptr);
WP_API hipError_t hipMemsetD8Async(hipDeviceptr_t target, unsigned char value, size_t count,
                                   hipStream_t stream = nullptr);
WP_API hipError_t hipMemsetD16Async(hipDeviceptr_t target, unsigned short value, size_t count,
                                    hipStream_t stream = nullptr);
WP_API hipError_t hipMemsetD32Async(hipDeviceptr_t target, int value, size_t count, hipStream_t stream = nullptr);
WP_API hipError_t hipMemset2D(void* target, size_t pitch, int value, size_t width, size_t height);
WP_API hipError_t hipMemsetD8(hipDeviceptr_t target, unsigned char value, size_t count);
WP_API hipError_t hipMemsetD16(hipDeviceptr_t target, unsigned short value, size_t count);
WP_API hipError_t hipMemsetD32(hipDeviceptr_t target, int value, size_t count);

WP_API hipError_t hipMemcpyToSymbol(const void* symbol, const void* source, size_t bytes, size_t offset = 0,
                                    hipMemcpyKind kind = hipMemcpyHostToDevice);
WP_API hipError_t hipMemcpyToSymbolAsync(const void* symbol, const void* source, size_t bytes, size_t offset,
                                         hipMemcpyKind kind, hipStream_t stream = nullptr);
WP_API hipError_t hipMemcpyFromSymbol(void* target, const void* symbol, size_t bytes, size_t offset = 0,
                                      hipMemcpyKind kind = hipMemcpyDeviceToHost);
WP_API hipError_t hipMemcpyFromSymbolAsync(void* target, const void* symbol, size_t bytes, size_t offset,
                                           hipMemcpyKind kind, hipStream_t stream = nullptr);
WP_API hipError_t hipGetSymbolAddress(void** pointer, const void* symbol);
WP_API hipError_t hipGetSymbolSize(size_t* bytes, const void* symbol);

WP_API hipError_t hipStreamCreate(hipStream_t* stream);
WP_API hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags);
WP_API hipError_t hipStreamCreateWithPriority(hipStream_t* stream, unsigned flags, int priority);
WP_API hipError_t hipDeviceGetStreamPriorityRange(int* least, int* greatest);
WP_API hipError_t hipStreamDestroy(hipStream_t stream);
WP_API hipError_t hipStreamSynchronize(hipStream_t stream);
WP_API hipError_t hipStreamQuery(hipStream_t stream);
WP_API hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags = 0);
WP_API hipError_t hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t callback, void* user_data,
                                       unsigned flags);
WP_API hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t function, void* user_data);

WP_API hipError_t hipEventCreate(hipEvent_t* event);
WP_API hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned flags);
WP_API hipError_t hipEventDestroy(hipEvent_t event);
WP_API hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream = nullptr);
WP_API hipError_t hipEventRecordWithFlags(hipEvent_t event, hipStream_t stream = nullptr, unsigned flags = 0);
WP_API hipError_t hipEventSynchronize(hipEvent_t event);
WP_API hipError_t hipEventQuery(hipEvent_t event);
WP_API hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start, hipEvent_t stop);

WP_API hipError_t hipLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                                  size_t shared_bytes = 0, hipStream_t stream = nullptr);
WP_API hipError_t hipLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                                             unsigned shared_bytes, hipStream_t stream);
WP_API hipError_t hipFuncSetAttribute(const void* function, hipFuncAttribute attribute, int value);
WP_API hipError_t hipFuncGetAttributes(hipFuncAttributes* attributes, const void* function);
WP_API hipError_t hipFuncSetCacheConfig(const void* function, hipFuncCache_t config);
WP_API hipError_t hipFuncSetSharedMemConfig(const void* function, hipSharedMemConfig config);
WP_API hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int block_size,
                                                               size_t shared_bytes);
WP_API hipError_t hipOccupancyMaxPotentialBlockSize(int* grid_size, int* block_size, const void* function,
                                                    size_t shared_bytes, int block_size_limit);

WP_API unsigned __hipPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes = 0,
                                           hipStream_t stream = nullptr);
WP_API hipError_t __hipPopCallConfiguration(dim3* grid, dim3* block, size_t* shared_bytes, hipStream_t* stream);
}
#undef WP_API
