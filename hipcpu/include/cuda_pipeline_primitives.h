#pragma once
#include <cuda_runtime.h>

// Copies from global to shared memory that CUDA can leave running: done at once here.
__device__ __forceinline__ void __pipeline_memcpy_async(void* target, const void* source, size_t bytes,
                                                        size_t zeros = 0) {
    __builtin_memcpy(target, source, bytes - zeros);
    __builtin_memset(static_cast<char*>(target) + (bytes - zeros), 0, zeros);
}
__device__ __forceinline__ void __pipeline_commit() {}
__device__ __forceinline__ void __pipeline_wait_prior(size_t) {}
