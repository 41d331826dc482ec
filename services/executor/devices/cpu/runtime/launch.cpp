// Kernel launches: the configuration stack behind <<<>>>, the checks, and the occupancy queries.
#include <vector>

#include "errors.h"
#include "launch.h"
#include "launch_limits.h"
#include "registry.h"
#include "sanitizer.h"
#include "wavepool/host_api.h"
#include "workers.h"

namespace wavepool {
namespace {
struct Configuration {
    dim3 grid, block;
    size_t shared_bytes;
    hipStream_t stream;
};
thread_local std::vector<Configuration> configurations;

bool fits(const KernelEntry& kernel, dim3 grid, dim3 block, size_t shared_bytes) {
    if (grid.x == 0 || grid.y == 0 || grid.z == 0 || block.x == 0 || block.y == 0 || block.z == 0) return false;
    if (grid.x > kMaxGridDim || grid.y > 65535u || grid.z > 65535u) return false;
    if (block.x > kMaxThreadsPerBlock || block.y > kMaxThreadsPerBlock || block.z > kMaxThreadsPerBlock) return false;
    if (uint64_t(block.x) * block.y * block.z > kMaxThreadsPerBlock) return false;
    return shared_bytes <= kSharedBytesPerBlock && kernel.shared_bytes + shared_bytes <= kSharedBytesPerBlock;
}

hipError_t launch(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared_bytes) {
    const KernelEntry* kernel = kernel_of(function);
    return kernel ? launch_kernel(*kernel, grid, block, arguments, shared_bytes) : hipErrorInvalidDeviceFunction;
}
}  // namespace

hipError_t launch_kernel(const KernelEntry& kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes) {
    if (!fits(kernel, grid, block, shared_bytes)) return hipErrorInvalidConfiguration;
    BlockIndex shape{0, 0, 0, 0, 0, 0, block.x, block.y, block.z, grid.x, grid.y, grid.z, 0};
    if (sanitizing()) sanitizer::launch_begins(kernel, uint64_t(grid.x) * grid.y * grid.z, shared_bytes);
    run_grid(kernel, arguments, shape);
    return hipSuccess;
}
}  // namespace wavepool

using namespace wavepool;

extern "C" {
unsigned __hipPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, hipStream_t stream) {
    configurations.push_back({grid, block, shared_bytes, stream});
    return 0;
}

hipError_t __hipPopCallConfiguration(dim3* grid, dim3* block, size_t* shared_bytes, hipStream_t* stream) {
    if (configurations.empty()) return remember(hipErrorInvalidConfiguration);
    const Configuration& top = configurations.back();
    *grid = top.grid, *block = top.block, *shared_bytes = top.shared_bytes, *stream = top.stream;
    configurations.pop_back();
    return hipSuccess;
}

hipError_t hipLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,
                           hipStream_t) {
    return remember(launch(function, grid, block, arguments, shared_bytes));
}

hipError_t hipLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                                      unsigned shared_bytes, hipStream_t) {
    return remember(launch(function, grid, block, arguments, shared_bytes));
}

hipError_t hipFuncSetAttribute(const void* function, hipFuncAttribute attribute, int value) {
    const KernelEntry* kernel = kernel_of(function);
    if (!kernel) return remember(hipErrorInvalidDeviceFunction);
    bool too_large = attribute == hipFuncAttributeMaxDynamicSharedMemorySize &&
                     (value < 0 || value + kernel->shared_bytes > kSharedBytesPerBlock);
    return remember(too_large ? hipErrorInvalidValue : hipSuccess);
}

hipError_t hipFuncGetAttributes(hipFuncAttributes* attributes, const void* function) {
    const KernelEntry* kernel = kernel_of(function);
    if (!kernel || !attributes) return remember(kernel ? hipErrorInvalidValue : hipErrorInvalidDeviceFunction);
    *attributes = {};
    attributes->maxDynamicSharedSizeBytes = int(kSharedBytesPerBlock - kernel->shared_bytes);
    attributes->maxThreadsPerBlock = kMaxThreadsPerBlock;
    attributes->sharedSizeBytes = kernel->shared_bytes;
    return hipSuccess;
}

hipError_t hipFuncSetCacheConfig(const void*, hipFuncCache_t) { return hipSuccess; }
hipError_t hipFuncSetSharedMemConfig(const void*, hipSharedMemConfig) { return hipSuccess; }

hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int block_size,
                                                        size_t shared_bytes) {
    const KernelEntry* kernel = kernel_of(function);
    if (!kernel) return remember(hipErrorInvalidDeviceFunction);
    if (!blocks || block_size <= 0) return remember(hipErrorInvalidValue);
    uint32_t waves = (uint32_t(block_size) + kWavefront - 1) / kWavefront;
    uint64_t shared = kernel->shared_bytes + shared_bytes;
    uint64_t by_shared = shared ? kSharedBytesPerBlock / shared : 32;
    *blocks = uint32_t(block_size) > kMaxThreadsPerBlock ? 0 : int(by_shared < 32 / waves ? by_shared : 32 / waves);
    return hipSuccess;
}

hipError_t hipOccupancyMaxPotentialBlockSize(int* grid_size, int* block_size, const void* function, size_t,
                                             int block_size_limit) {
    if (!kernel_of(function)) return remember(hipErrorInvalidDeviceFunction);
    if (!grid_size || !block_size) return remember(hipErrorInvalidValue);
    *block_size = block_size_limit > 0 && block_size_limit < int(kMaxThreadsPerBlock) ? block_size_limit
                                                                                      : int(kMaxThreadsPerBlock);
    *grid_size = worker_count();
    return hipSuccess;
}
}
