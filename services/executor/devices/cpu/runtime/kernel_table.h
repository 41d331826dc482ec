// What the join emits for each submission and the runtime reads: its kernels and device variables.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wavepool {

// Where one block stands in its launch; compiled kernels read it.
struct BlockIndex {
    uint32_t thread_x, thread_y, thread_z;  // of the thread that runs now
    uint32_t block_x, block_y, block_z;
    uint32_t block_dim_x, block_dim_y, block_dim_z;
    uint32_t grid_dim_x, grid_dim_y, grid_dim_z;
    uint32_t lane;
};

enum KernelForm : uint32_t {
    kThread = 0,  // `run` executes the one thread that the index names, and may block
    kLoop = 1,    // `run` executes all threads of the block
};

struct KernelEntry {
    const char* name;
    void (*run)(void** arguments, BlockIndex* index);
    uint32_t form;
    uint32_t shared_bytes;  // static shared memory
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
