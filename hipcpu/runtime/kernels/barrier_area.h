// Where the threads of a block in region form show values to each other; compiled kernels know its layout
// (`barrier_area.py`).
#pragma once

#include <cstdint>

#include "../calls/launch_limits.h"
#include "../matrix/matrix.h"

namespace wavepool {

struct BarrierArea {
    // A shift by some lanes reads beyond the first or the last lane, and drops what it read there.
    uint64_t before[kWavefront];
    uint64_t brought[kMaxThreadsPerBlock];  // by each thread to the barrier where it waits
    uint64_t between[kWavefront];
    uint64_t values[kMaxThreadsPerBlock];  // what the last barrier of each wavefront showed
    uint64_t after[kWavefront];
    uint64_t masks[kMaxThreadsPerBlock];  // the lanes that each thread names where it waits
    uint64_t active[kMaxThreadsPerBlock / kWavefront];
    int32_t count;    // threads whose predicate held at the last barrier
    int32_t arrived;  // threads that came to it
    uint32_t next[kMaxThreadsPerBlock];  // the region that each thread goes on with; 0 when it has ended
    MatrixRegisters matrices[kMaxThreadsPerBlock / kWavefront];
};

}  // namespace wavepool
