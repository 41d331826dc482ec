// What the runtime tells the sanitizers, in builds whose kernels are instrumented (`sanitizer/instrument.py`).
#pragma once

#include <cstddef>
#include <cstdint>

#include "../kernels/divergence.h"
#include "../kernels/kernel_table.h"

// Defined by instrumented modules alone: tells `take` of each variable that kernels can reach by name.
extern "C" __attribute__((weak)) void __wp_list_variables(void (*take)(const char* name, const void* address,
                                                                       uint64_t bytes, int is_shared));

namespace wavepool {

inline bool sanitizing() { return &__wp_list_variables != nullptr; }

namespace sanitizer {
// Memory between guard zones; `is_written` where the host may write it behind our back. Null when memory is gone.
void* allocate(size_t bytes, bool is_written);
// The memory stays, as freed, so that later uses are seen.
void release(void* memory);
void name(const void* memory, const char* name);
// The host's ordinary memory that was made visible to kernels.
void add_host_memory(const void* memory, size_t bytes);

// What the host does.
void host_wrote(const void* target, size_t bytes);
void host_copied(const void* target, const void* source, size_t bytes);

// What happens on the device; launches are in order, blocks run one after another.
void launch_begins(const KernelEntry& kernel, uint64_t block_count, uint64_t dynamic_bytes);
void block_begins(const BlockIndex& index);
void block_met();
void wave_met(uint32_t wave);
void program_ends();
void threads_are_stuck(const char* what, const BlockIndex& index, WaitingThread thread, WaitingThread other);
}  // namespace sanitizer
}  // namespace wavepool
