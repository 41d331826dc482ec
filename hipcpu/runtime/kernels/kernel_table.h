// What the join emits for each submission and the runtime reads: its kernels and device variables.
#pragma once

#include <cstddef>
#include <cstdint>

#include "barrier_area.h"

namespace wavepool {

// Where one block stands in its launch; compiled kernels read it (`index_values.py`).
struct BlockIndex {
    uint32_t thread_x, thread_y, thread_z;  // of the thread that runs now, for kernels in thread form
    uint32_t block_x, block_y, block_z;
    uint32_t block_dim_x, block_dim_y, block_dim_z;
    uint32_t grid_dim_x, grid_dim_y, grid_dim_z;
    uint32_t lane;
};

// The threads that a call of `regions` runs: each index from `begin` to before `end`.
struct ThreadBox {
    uint32_t begin_x, end_x, begin_y, end_y, begin_z, end_z;
    uint32_t side;  // which of its two values a variable that is uniform in the block has before the region
};

// A place where threads wait for each other.
struct BarrierEntry {
    uint32_t is_wave;
    uint32_t has_mask;
    uint32_t line;
    MatrixInstruction matrix;  // executed when all lanes are there
};

struct ArgumentLayout {
    uint64_t bytes;
    const unsigned char* mask;  // a byte each: 0 for padding, which holds whatever was there before
};

// A kernel has one of two forms, and one of these functions. In thread form `run` executes one thread and may block. In
// region form `regions` executes a region for a box of threads and returns the bitwise or (upper half) and the bitwise
// and (lower half) of the regions to go on with.
struct KernelEntry {
    const char* name;
    void (*run)(void** arguments, BlockIndex* index);
    uint64_t (*regions)(void** arguments, const BlockIndex* index, void* context, BarrierArea* area, uint32_t region,
                        const ThreadBox* box);
    const BarrierEntry* barriers;
    unsigned char* (*dynamic_shared)();  // where the calling thread has it; null if the kernel uses none
    uint64_t context_bytes;
    uint32_t shared_bytes;  // static shared memory
    uint32_t most_threads;  // of a block, by __launch_bounds__; 0 if it has none
    uint64_t argument_count;
    const ArgumentLayout* arguments;  // null if they are unknown
};

struct VariableEntry {
    const char* name;
    void* address;
    uint64_t bytes;
};

struct KernelTable {
    const KernelEntry* kernels;
    uint64_t kernel_count;
    const VariableEntry* variables;
    uint64_t variable_count;
};

}  // namespace wavepool
