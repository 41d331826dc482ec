// Outputs that no thread can write to while their contents are taken.
#pragma once

#include <signal.h>

// From now on whoever writes to these bytes waits until `__wp_release`; the runner's, for each output, when a call has
// ended. Only whole pages are held, so the first and last page may be left out: the runner has guard bands there.
// False if the kernel refuses.
extern "C" bool __wp_hold(void* begin, size_t bytes);
// Ends all holds, and says whether something tried to write meanwhile.
extern "C" bool __wp_release();

namespace wavepool {
// Whether a SIGSEGV was a write to memory that is held, or was until now: the write is to be tried again.
bool held_write(const siginfo_t& fault);
// The action for SIGSEGV that is this runtime's own.
struct sigaction fault_action();
}  // namespace wavepool
