// Kernels that are launched by name: what our harness for submissions of kernels only uses. An image is the table of
// kernels that the join linked; there is no other, so nothing can be loaded at run time.
#pragma once

#include "wavepool/host/types.h"

typedef struct ihipModule_t* hipModule_t;
typedef struct ihipModuleSymbol_t* hipFunction_t;

extern "C" {
__host__ hipError_t hipModuleLoadData(hipModule_t* module, const void* image);
__host__ hipError_t hipModuleUnload(hipModule_t module);
__host__ hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t module, const char* name);
__host__ hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                 unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                 hipStream_t stream, void** arguments, void** extra);
__host__ hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t function, unsigned grid_x, unsigned grid_y,
                                                     unsigned grid_z, unsigned block_x, unsigned block_y,
                                                     unsigned block_z, unsigned shared_bytes, hipStream_t stream,
                                                     void** arguments);
__host__ hipError_t hipModuleGetGlobal(hipDeviceptr_t* address, size_t* bytes, hipModule_t module, const char* name);
}
