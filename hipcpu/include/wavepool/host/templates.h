// The typed forms of the host API that C++ callers use.
#pragma once

#include "wavepool/host/api.h"

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
template <class T> __host__ inline hipError_t hipHostGetDevicePointer(T** device, void* host, unsigned flags = 0) {
    return hipHostGetDevicePointer(reinterpret_cast<void**>(device), host, flags);
}
template <class T>
__host__ inline hipError_t hipMallocFromPoolAsync(T** pointer, size_t bytes, hipMemPool_t, hipStream_t stream) {
    return hipMallocAsync(reinterpret_cast<void**>(pointer), bytes, stream);
}
// CUDA's runtime takes the flags with the same name.
__host__ inline hipError_t hipEventCreate(hipEvent_t* event, unsigned flags) {
    return hipEventCreateWithFlags(event, flags);
}

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

template <class F> __host__ inline hipError_t hipFuncSetSharedMemConfig(F* function, hipSharedMemConfig config) {
    return hipFuncSetSharedMemConfig(reinterpret_cast<const void*>(function), config);
}
template <class F>
__host__ inline hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, F* function,
                                                                                 int block_size, size_t shared_bytes,
                                                                                 unsigned) {
    return hipOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, block_size, shared_bytes);
}
template <class F>
__host__ inline hipError_t hipOccupancyMaxPotentialBlockSizeWithFlags(int* grid_size, int* block_size, F* function,
                                                                      size_t shared_bytes = 0, int limit = 0,
                                                                      unsigned = 0) {
    return hipOccupancyMaxPotentialBlockSize(grid_size, block_size, function, shared_bytes, limit);
}
// `shared_bytes_of` gives the dynamic shared memory of a block of so many threads; the largest block that fits is given.
template <class F, class S>
__host__ inline hipError_t hipOccupancyMaxPotentialBlockSizeVariableSMem(int* grid_size, int* block_size, F* function,
                                                                         S shared_bytes_of, int limit = 0) {
    hipError_t error = hipOccupancyMaxPotentialBlockSize(grid_size, block_size, function, 0, limit);
    for (int blocks = 0; error == hipSuccess && *block_size > 64; *block_size -= 64) {
        error = hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, *block_size,
                                                             shared_bytes_of(*block_size));
        if (blocks > 0) break;
    }
    return error;
}
template <class F>
__host__ inline hipError_t hipOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, F* function, int blocks, int) {
    hipFuncAttributes attributes;
    hipError_t error = hipFuncGetAttributes(&attributes, function);
    if (error == hipSuccess) *bytes = size_t(attributes.maxDynamicSharedSizeBytes) / (blocks > 0 ? blocks : 1);
    return error;
}

// CUDA's launch with a structure; no attribute of a launch has a meaning here.
typedef struct hipLaunchAttribute {
    int id;
    char value[64];
} hipLaunchAttribute;
typedef struct hipLaunchConfig_t {
    dim3 gridDim;
    dim3 blockDim;
    size_t dynamicSmemBytes;
    hipStream_t stream;
    hipLaunchAttribute* attrs;
    unsigned numAttrs;
} hipLaunchConfig_t;
template <class... P, class... A>
__host__ inline hipError_t hipLaunchKernelEx(const hipLaunchConfig_t* config, void (*kernel)(P...), A&&... arguments) {
    return [&](P... values) {
        void* addresses[] = {static_cast<void*>(&values)..., nullptr};
        return hipLaunchKernel(kernel, config->gridDim, config->blockDim, addresses, config->dynamicSmemBytes,
                               config->stream);
    }(static_cast<P>(arguments)...);
}

__host__ inline hipError_t hipExtLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                                              size_t shared_bytes, hipStream_t stream, hipEvent_t start,
                                              hipEvent_t stop, int) {
    if (start) (void)hipEventRecord(start, stream);
    hipError_t error = hipLaunchKernel(function, grid, block, arguments, shared_bytes, stream);
    if (stop) (void)hipEventRecord(stop, stream);
    return error;
}
#define hipExtLaunchKernelGGL(kernel, grid, block, shared_bytes, stream, start, stop, flags, ...) \
    do {                                                                                          \
        hipEvent_t wp_start = start, wp_stop = stop;                                              \
        if (wp_start) (void)hipEventRecord(wp_start, stream);                                     \
        kernel<<<dim3(grid), dim3(block), shared_bytes, stream>>>(__VA_ARGS__);                   \
        if (wp_stop) (void)hipEventRecord(wp_stop, stream);                                       \
    } while (0)
#define hipLaunchKernelGGL(kernel, grid, block, shared_bytes, stream, ...) \
    kernel<<<dim3(grid), dim3(block), shared_bytes, stream>>>(__VA_ARGS__)
