// The typed forms of the host API that C++ callers use.
#pragma once

#include "wavepool/host_api.h"

template <class T> __host__ inline hipError_t hipMalloc(T** pointer, size_t bytes) {
    return hipMalloc(reinterpret_cast<void**>(pointer), bytes);
}
template <class T> __host__ inline hipError_t hipMallocAsync(T** pointer, size_t bytes, hipStream_t stream) {
    return hipMallocAsync(reinterpret_cast<void**>(pointer), bytes, stream);
}
template <class T>
__host__ inline hipError_t hipMallocManaged(T** pointer, size_t bytes, unsigned flags = hipMemAttachGlobal) {
    return hipMallocManaged(reinterpret_cast<void**>(pointer), bytes, flags);
}
template <class T> __host__ inline hipError_t hipMallocPitch(T** pointer, size_t* pitch, size_t width, size_t height) {
    return hipMallocPitch(reinterpret_cast<void**>(pointer), pitch, width, height);
}
template <class T> __host__ inline hipError_t hipHostMalloc(T** pointer, size_t bytes, unsigned flags = 0) {
    return hipHostMalloc(reinterpret_cast<void**>(pointer), bytes, flags);
}
template <class T> __host__ inline hipError_t hipMallocHost(T** pointer, size_t bytes) {
    return hipHostMalloc(reinterpret_cast<void**>(pointer), bytes, 0u);
}
template <class T> __host__ inline hipError_t hipHostAlloc(T** pointer, size_t bytes, unsigned flags = 0) {
    return hipHostMalloc(reinterpret_cast<void**>(pointer), bytes, flags);
}
__host__ inline hipError_t hipFreeHost(void* pointer) { return hipHostFree(pointer); }

template <class T>
__host__ inline hipError_t hipMemcpyToSymbol(const T& symbol, const void* source, size_t bytes, size_t offset = 0,
                                             hipMemcpyKind kind = hipMemcpyHostToDevice) {
    return hipMemcpyToSymbol(reinterpret_cast<const void*>(&symbol), source, bytes, offset, kind);
}
template <class T>
__host__ inline hipError_t hipMemcpyToSymbolAsync(const T& symbol, const void* source, size_t bytes, size_t offset = 0,
                                                  hipMemcpyKind kind = hipMemcpyHostToDevice,
                                                  hipStream_t stream = nullptr) {
    return hipMemcpyToSymbolAsync(reinterpret_cast<const void*>(&symbol), source, bytes, offset, kind, stream);
}
template <class T>
__host__ inline hipError_t hipMemcpyFromSymbol(void* target, const T& symbol, size_t bytes, size_t offset = 0,
                                               hipMemcpyKind kind = hipMemcpyDeviceToHost) {
    return hipMemcpyFromSymbol(target, reinterpret_cast<const void*>(&symbol), bytes, offset, kind);
}
template <class T>
__host__ inline hipError_t hipMemcpyFromSymbolAsync(void* target, const T& symbol, size_t bytes, size_t offset = 0,
                                                    hipMemcpyKind kind = hipMemcpyDeviceToHost,
                                                    hipStream_t stream = nullptr) {
    return hipMemcpyFromSymbolAsync(target, reinterpret_cast<const void*>(&symbol), bytes, offset, kind, stream);
}
template <class T> __host__ inline hipError_t hipGetSymbolAddress(void** pointer, const T& symbol) {
    return hipGetSymbolAddress(pointer, reinterpret_cast<const void*>(&symbol));
}
template <class T> __host__ inline hipError_t hipGetSymbolSize(size_t* bytes, const T& symbol) {
    return hipGetSymbolSize(bytes, reinterpret_cast<const void*>(&symbol));
}

template <class F>
__host__ inline hipError_t hipLaunchKernel(F* function, dim3 grid, dim3 block, void** arguments,
                                           size_t shared_bytes = 0, hipStream_t stream = nullptr) {
    return hipLaunchKernel(reinterpret_cast<const void*>(function), grid, block, arguments, shared_bytes, stream);
}
template <class F>
__host__ inline hipError_t hipLaunchCooperativeKernel(F* function, dim3 grid, dim3 block, void** arguments,
                                                      unsigned shared_bytes = 0, hipStream_t stream = nullptr) {
    return hipLaunchCooperativeKernel(reinterpret_cast<const void*>(function), grid, block, arguments, shared_bytes,
                                      stream);
}
template <class F> __host__ inline hipError_t hipFuncSetAttribute(F* function, hipFuncAttribute attribute, int value) {
    return hipFuncSetAttribute(reinterpret_cast<const void*>(function), attribute, value);
}
template <class F> __host__ inline hipError_t hipFuncGetAttributes(hipFuncAttributes* attributes, F* function) {
    return hipFuncGetAttributes(attributes, reinterpret_cast<const void*>(function));
}
template <class F> __host__ inline hipError_t hipFuncSetCacheConfig(F* function, hipFuncCache_t config) {
    return hipFuncSetCacheConfig(reinterpret_cast<const void*>(function), config);
}
template <class F>
__host__ inline hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, F* function, int block_size,
                                                                        size_t shared_bytes) {
    return hipOccupancyMaxActiveBlocksPerMultiprocessor(blocks, reinterpret_cast<const void*>(function), block_size,
                                                        shared_bytes);
}
template <class F>
__host__ inline hipError_t hipOccupancyMaxPotentialBlockSize(int* grid_size, int* block_size, F* function,
                                                             size_t shared_bytes = 0, int block_size_limit = 0) {
    return hipOccupancyMaxPotentialBlockSize(grid_size, block_size, reinterpret_cast<const void*>(function),
                                             shared_bytes, block_size_limit);
}

#define hipLaunchKernelGGL(kernel, grid, block, shared_bytes, stream, ...) \
    kernel<<<dim3(grid), dim3(block), shared_bytes, stream>>>(__VA_ARGS__)
