// Kernel launches: the configuration stack behind <<<>>>, the checks, and the occupancy queries.
#include <algorithm>
#include <vector>

#include "../kernels/cooperative.h"
#include "device_facts.h"
#include "errors.h"
#include "kernel_name.h"
#include "launch.h"
#include "launch_limits.h"
#include "launch_trace.h"
#include "registry.h"
#include "../graphs/capture.h"
#include "../sanitizer/sanitizer.h"
#include "wavepool/host/api.h"
#include "../kernels/workers.h"

namespace wavepool {
namespace {
// Registers and shared memory of a kernel are as the GPU's compiler gives them.
constexpr const char* kInsteadOfAsking =
    "launch with numbers that sizes decide; __launch_bounds__(threads, blocks) has the compiler make them fit";

struct Configuration {
    dim3 grid, block;
    size_t shared_bytes;
    hipStream_t stream;
};
thread_local std::vector<Configuration> configurations;

bool grid_fits(const KernelEntry& kernel, dim3 grid) {
    if (grid.x == 0 || grid.y == 0 || grid.z == 0)
        explain("kernel %s: a grid of (%u, %u, %u) blocks is empty", name_in_source(kernel), grid.x, grid.y, grid.z);
    else if (grid.x > kMaxGridDim || grid.y > kMaxGridDimYZ || grid.z > kMaxGridDimYZ)
        explain("kernel %s: a grid of (%u, %u, %u) blocks; at most (%u, %u, %u)", name_in_source(kernel), grid.x, grid.y, grid.z,
                kMaxGridDim, kMaxGridDimYZ, kMaxGridDimYZ);
    else return true;
    return false;
}

// The most threads of a block of this kernel.
uint32_t most_threads(const KernelEntry& kernel) {
    const uint32_t most = device_facts().threads_per_block;
    return kernel.most_threads ? std::min(kernel.most_threads, most) : most;
}

bool block_fits(const KernelEntry& kernel, dim3 block) {
    const uint64_t threads = uint64_t(block.x) * block.y * block.z;
    if (threads > 0 && threads <= most_threads(kernel)) return true;
    if (threads > 0 && threads <= device_facts().threads_per_block)
        explain("kernel %s: a block of (%u, %u, %u) threads; its __launch_bounds__ allow %u", name_in_source(kernel), block.x,
                block.y, block.z, kernel.most_threads);
    else explain("kernel %s: a block of (%u, %u, %u) threads; 1 to %u in all", name_in_source(kernel), block.x, block.y, block.z,
            device_facts().threads_per_block);
    return false;
}

bool fits(const KernelEntry& kernel, dim3 grid, dim3 block, size_t shared_bytes) {
    if (!grid_fits(kernel, grid) || !block_fits(kernel, block)) return false;
    const uint32_t most = device_facts().shared_bytes_per_block;
    if (shared_bytes <= most && kernel.shared_bytes + shared_bytes <= most) return true;
    explain("kernel %s: %zu bytes of dynamic and %u of static shared memory; at most %u in all", name_in_source(kernel),
            shared_bytes, kernel.shared_bytes, most);
    return false;
}

// Takes a launch down for the graph that its stream is captured for.
hipError_t take_launch(const KernelEntry& kernel, dim3 grid, dim3 block, void** arguments, const LaunchOrder& order,
                       bool is_cooperative) {
    graphs::Kernel node;
    void* const handle = const_cast<void*>(handle_of(kernel));
    if (hipError_t error = graphs::make_kernel(&kernel, handle, grid, block, arguments, unsigned(order.shared_bytes), &node))
        return error;
    node.is_cooperative = is_cooperative;
    return graphs::take(order.stream, std::move(node));
}

BlockIndex shape_of(dim3 grid, dim3 block) {
    return {0, 0, 0, 0, 0, 0, block.x, block.y, block.z, grid.x, grid.y, grid.z, 0};
}

hipError_t launch(const void* function, dim3 grid, dim3 block, void** arguments, const LaunchOrder& order) {
    const KernelEntry* kernel = kernel_of(function);
    return kernel ? launch_kernel(*kernel, grid, block, arguments, order) : hipErrorInvalidDeviceFunction;
}
}  // namespace

hipError_t launch_fault(const KernelEntry& kernel, dim3 grid, dim3 block, size_t shared_bytes) {
    return fits(kernel, grid, block, shared_bytes) ? hipSuccess : hipErrorInvalidConfiguration;
}

hipError_t launch_cooperatively(const KernelEntry& kernel, dim3 grid, dim3 block, void** arguments,
                                const LaunchOrder& order) {
    if (graphs::is_captured(order.stream)) return take_launch(kernel, grid, block, arguments, order, true);
    if (hipError_t error = launch_fault(kernel, grid, block, order.shared_bytes)) return error;
    if (uint64_t(grid.x) * grid.y * grid.z > device_facts().most_cooperative_blocks) {
        explain("kernel %s: a cooperative grid has at most %u blocks here, all of which run at once; ask "
                "hipOccupancyMaxActiveBlocksPerMultiprocessor",
                name_in_source(kernel), device_facts().most_cooperative_blocks);
        return hipErrorCooperativeLaunchTooLarge;
    }
    // The sanitizers order accesses by barriers of one block, and would call what a grid's barrier orders a race.
    if (sanitizing()) {
        explain("kernel %s: cooperative launches cannot be checked", name_in_source(kernel));
        return hipErrorNotSupported;
    }
    const TracedLaunch traced(kernel, grid, block, order.shared_bytes);
    return run_cooperative_grid(kernel, arguments, shape_of(grid, block), order) ? hipSuccess
                                                                                 : hipErrorCooperativeLaunchTooLarge;
}

hipError_t launch_kernel(const KernelEntry& kernel, dim3 grid, dim3 block, void** arguments,
                         const LaunchOrder& order) {
    if (graphs::is_captured(order.stream)) return take_launch(kernel, grid, block, arguments, order, false);
    if (hipError_t error = launch_fault(kernel, grid, block, order.shared_bytes)) return error;
    if (sanitizing()) sanitizer::launch_begins(kernel, uint64_t(grid.x) * grid.y * grid.z, order.shared_bytes);
    const TracedLaunch traced(kernel, grid, block, order.shared_bytes);
    run_grid(kernel, arguments, shape_of(grid, block), order);
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
                           hipStream_t stream) {
    return remember(launch(function, grid, block, arguments, {shared_bytes, stream}));
}

hipError_t hipLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                                      unsigned shared_bytes, hipStream_t stream) {
    const KernelEntry* kernel = kernel_of(function);
    if (!kernel) return remember(hipErrorInvalidDeviceFunction);
    return remember(launch_cooperatively(*kernel, grid, block, arguments, {shared_bytes, stream}));
}

hipError_t hipFuncSetAttribute(const void* function, hipFuncAttribute attribute, int value) {
    const KernelEntry* kernel = kernel_of(function);
    if (!kernel) return remember(hipErrorInvalidDeviceFunction);
    bool too_large = attribute == hipFuncAttributeMaxDynamicSharedMemorySize &&
                     (value < 0 || value + kernel->shared_bytes > device_facts().shared_bytes_per_block);
    return remember(too_large ? hipErrorInvalidValue : hipSuccess);
}

hipError_t hipFuncGetAttributes(hipFuncAttributes* attributes, const void* function) {
    wavepool_only_a_gpu_knows("hipFuncGetAttributes", kInsteadOfAsking);
    const KernelEntry* kernel = kernel_of(function);
    if (!kernel || !attributes) return remember(kernel ? hipErrorInvalidValue : hipErrorInvalidDeviceFunction);
    *attributes = {};
    attributes->maxDynamicSharedSizeBytes = int(device_facts().shared_bytes_per_block - kernel->shared_bytes);
    attributes->maxThreadsPerBlock = int(most_threads(*kernel));
    attributes->sharedSizeBytes = kernel->shared_bytes;
    return hipSuccess;
}

hipError_t hipFuncSetCacheConfig(const void*, hipFuncCache_t) { return hipSuccess; }
hipError_t hipFuncSetSharedMemConfig(const void*, hipSharedMemConfig) { return hipSuccess; }

hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int block_size,
                                                        size_t shared_bytes) {
    wavepool_only_a_gpu_knows("hipOccupancyMaxActiveBlocksPerMultiprocessor", kInsteadOfAsking);
    const KernelEntry* kernel = kernel_of(function);
    if (!kernel) return remember(hipErrorInvalidDeviceFunction);
    if (!blocks || block_size <= 0) return remember(hipErrorInvalidValue);
    uint32_t waves = (uint32_t(block_size) + device_facts().wavefront - 1) / device_facts().wavefront;
    uint64_t shared = kernel->shared_bytes + shared_bytes;
    uint64_t by_shared = shared ? device_facts().shared_bytes_per_block / shared : 32;
    // Cooperative grids have so many blocks on each unit.
    uint64_t by_cooperation = std::max(1u, device_facts().most_cooperative_blocks / device_facts().compute_units);
    const bool can_run = uint32_t(block_size) <= most_threads(*kernel);
    *blocks = can_run ? int(std::min({by_shared, uint64_t(32 / waves), by_cooperation})) : 0;
    return hipSuccess;
}

hipError_t hipOccupancyMaxPotentialBlockSize(int* grid_size, int* block_size, const void* function, size_t,
                                             int block_size_limit) {
    wavepool_only_a_gpu_knows("hipOccupancyMaxPotentialBlockSize", kInsteadOfAsking);
    const KernelEntry* kernel = kernel_of(function);
    if (!kernel) return remember(hipErrorInvalidDeviceFunction);
    if (!grid_size || !block_size) return remember(hipErrorInvalidValue);
    const int most = int(most_threads(*kernel));
    *block_size = block_size_limit > 0 && block_size_limit < most ? block_size_limit : most;
    *grid_size = int(device_facts().compute_units);
    return hipSuccess;
}
}
