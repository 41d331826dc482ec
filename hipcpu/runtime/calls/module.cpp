// Kernels launched by name. The only image there can be is the table that a build linked.
#include "wavepool/host/module_api.h"

#include <cstring>

#include "errors.h"
#include "launch.h"

extern "C" __attribute__((weak)) const wavepool::KernelTable wavepool_kernels;

using namespace wavepool;

extern "C" {
hipError_t hipModuleLoadData(hipModule_t* module, const void* image) {
    if (!module || !image || image != &wavepool_kernels) return remember(hipErrorInvalidValue);
    *module = reinterpret_cast<hipModule_t>(const_cast<void*>(image));
    return hipSuccess;
}

hipError_t hipModuleUnload(hipModule_t module) { return remember(module ? hipSuccess : hipErrorInvalidHandle); }

hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t module, const char* name) {
    if (!function || !name) return remember(hipErrorInvalidValue);
    if (!module) return remember(hipErrorInvalidHandle);
    const auto& table = *reinterpret_cast<const KernelTable*>(module);
    for (uint64_t i = 0; i < table.kernel_count; ++i) {
        if (std::strcmp(table.kernels[i].name, name) != 0) continue;
        *function = reinterpret_cast<hipFunction_t>(const_cast<KernelEntry*>(&table.kernels[i]));
        return hipSuccess;
    }
    return remember(hipErrorNotFound);
}

hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                 unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                 hipStream_t stream, void** arguments, void**) {
    if (!function) return remember(hipErrorInvalidHandle);
    const auto& kernel = *reinterpret_cast<const KernelEntry*>(function);
    return remember(launch_kernel(kernel, dim3(grid_x, grid_y, grid_z), dim3(block_x, block_y, block_z), arguments,
                                  {shared_bytes, stream}));
}

hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                            unsigned block_x, unsigned block_y, unsigned block_z,
                                            unsigned shared_bytes, hipStream_t stream, void** arguments) {
    if (!function) return remember(hipErrorInvalidHandle);
    const auto& kernel = *reinterpret_cast<const KernelEntry*>(function);
    return remember(launch_cooperatively(kernel, dim3(grid_x, grid_y, grid_z), dim3(block_x, block_y, block_z),
                                         arguments, {shared_bytes, stream}));
}

hipError_t hipModuleGetGlobal(hipDeviceptr_t* address, size_t* bytes, hipModule_t module, const char* name) {
    if (!name) return remember(hipErrorInvalidValue);
    if (!module) return remember(hipErrorInvalidHandle);
    const auto& table = *reinterpret_cast<const KernelTable*>(module);
    for (uint64_t i = 0; i < table.variable_count; ++i) {
        if (std::strcmp(table.variables[i].name, name) != 0) continue;
        if (address) *address = table.variables[i].address;
        if (bytes) *bytes = table.variables[i].bytes;
        return hipSuccess;
    }
    return remember(hipErrorNotFound);
}
}
