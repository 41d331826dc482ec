// The launches of a process with their times, for profiles (services/executor/devices/cpu).
#pragma once

#include <cstdint>

#include "../kernels/kernel_table.h"
#include "wavepool/host/types.h"

namespace wavepool {

// Writes a line about a launch when it ends, to the file that WAVEPOOL_KERNEL_TRACE names; nothing if it names none.
class TracedLaunch {
public:
    TracedLaunch(const KernelEntry& kernel, dim3 grid, dim3 block, size_t shared_bytes);
    ~TracedLaunch();
    TracedLaunch(const TracedLaunch&) = delete;
    TracedLaunch& operator=(const TracedLaunch&) = delete;

private:
    const KernelEntry& kernel_;
    const dim3 grid_, block_;
    const size_t shared_bytes_;
    const uint64_t begin_ns_;
};

}  // namespace wavepool
