// Running a kernel of the table that the join made.
#pragma once

#include "../kernels/workers.h"

namespace wavepool {
// Why the device does not take such a launch; hipSuccess if it does.
hipError_t launch_fault(const KernelEntry& kernel, dim3 grid, dim3 block, size_t shared_bytes);
// Returns when the whole grid has run; refuses a configuration that the device does not take.
hipError_t launch_kernel(const KernelEntry& kernel, dim3 grid, dim3 block, void** arguments, const LaunchOrder& order);
// The same for a grid whose blocks all run at once.
hipError_t launch_cooperatively(const KernelEntry& kernel, dim3 grid, dim3 block, void** arguments,
                                const LaunchOrder& order);
}  // namespace wavepool
