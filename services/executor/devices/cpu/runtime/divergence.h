// Threads that wait for each other in ways that hang or break a wavefront: the report, and the end.
// The first line on stderr says why a process was stopped, whatever the reason is.
#pragma once

#include "kernel_table.h"

namespace wavepool {

// Not 1, which programs return for their own reasons; a SIGABRT would look like a failed assert.
constexpr int kStoppedExit = 86;

// A thread by its number in the block, and the source line where it waits.
struct WaitingThread {
    uint32_t number;
    uint32_t line;
};

// Says on stderr which threads of which block wait where, and ends the process with status 86.
[[noreturn]] void fail(const char* what, const KernelEntry& kernel, const BlockIndex& index, WaitingThread a,
                       WaitingThread b);

}  // namespace wavepool
