// One worker per core; together they run the blocks of one launch at a time.
#pragma once

#include "kernel_table.h"

namespace wavepool {

// Runs every block of the grid in `shape` (its block_* fields are not read) and returns when all have ended.
void run_grid(const KernelEntry& kernel, void** arguments, const BlockIndex& shape);

int worker_count();

}  // namespace wavepool
