// One worker per core; together they run the blocks of one launch at a time.
#pragma once

#include "kernel_table.h"
#include "wavepool/host/types.h"

namespace wavepool {

// What a launch says beside its shape; the recorder (recorder/launches.cpp) writes it down.
struct LaunchOrder {
    size_t shared_bytes;  // dynamic
    hipStream_t stream;
};

// Runs every block of the grid in `shape` (its block_* fields are not read) and returns when all have ended.
void run_grid(const KernelEntry& kernel, void** arguments, const BlockIndex& shape, const LaunchOrder& order);

// Runs one block of the grid, which is numbered in x, then y, then z, on the calling thread.
void run_block(const KernelEntry& kernel, void** arguments, const BlockIndex& shape, uint64_t block);

int worker_count();

}  // namespace wavepool
