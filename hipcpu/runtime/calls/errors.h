// The last error of each host thread, and why it was one.
#pragma once

#include "wavepool/host/types.h"

namespace wavepool {
// Remembers `error` of the API's `function` for hipGetLastError unless it is hipSuccess, and returns it.
hipError_t remember(hipError_t error, const char* function = __builtin_FUNCTION());

// Says more of the error that this thread's next `remember` is of.
__attribute__((format(printf, 1, 2))) void explain(const char* format, ...);
}  // namespace wavepool

// One line about the calling thread's last error, or an empty one; the runner shows it where nobody asked for errors.
extern "C" const char* __wp_last_refusal(void);
