// The last error of each host thread.
#pragma once

#include "wavepool/host_types.h"

namespace wavepool {
// Remembers `error` for hipGetLastError unless it is hipSuccess, and returns it.
hipError_t remember(hipError_t error);
}  // namespace wavepool
