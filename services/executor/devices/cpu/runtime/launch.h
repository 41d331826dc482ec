// Running a kernel of the table that the join made.
#pragma once

#include "kernel_table.h"
#include "wavepool/host_types.h"

namespace wavepool {
// Returns when the whole grid has run; refuses a configuration that the device does not take.
hipError_t launch_kernel(const KernelEntry& kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes);
}  // namespace wavepool
