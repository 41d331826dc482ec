// Cooperative launches, whose blocks all run at once and can wait for each other.
#pragma once

#include "workers.h"

namespace wavepool {

// As many threads of the host as a sandbox of a submission has room for beside its workers.
constexpr uint32_t kMostCooperativeBlocks = 40;

// Runs every block of the grid on a thread of its own; false where the host refuses so many.
bool run_cooperative_grid(const KernelEntry& kernel, void** arguments, const BlockIndex& shape,
                          const LaunchOrder& order);

}  // namespace wavepool
