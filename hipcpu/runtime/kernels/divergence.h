// Threads that wait for each other in ways that hang or break a wavefront: the report, and the end.
#pragma once

#include "kernel_table.h"

namespace wavepool {

// The line of a thread that does not wait, since it has ended or since the block has no such thread.
constexpr uint32_t kNotThere = ~0u;

// A thread by its number in the block, and the source line where it waits.
struct WaitingThread {
    uint32_t number;
    uint32_t line;
};

// Says on stderr which threads of which block wait where, and ends the process with status 86.
[[noreturn]] void fail(const char* what, const KernelEntry& kernel, const BlockIndex& index, WaitingThread a,
                       WaitingThread b);

// The same for a matrix instruction that waits for another lane of its wavefront.
[[noreturn]] void fail_without_lane(const KernelEntry& kernel, const BlockIndex& index, WaitingThread waiting,
                                    WaitingThread other);

}  // namespace wavepool
