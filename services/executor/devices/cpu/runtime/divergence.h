// Finds threads that wait for each other in ways that hang or break a wavefront, reports them and ends the process.
#pragma once

#include "block.h"

namespace wavepool {

// A cross-lane operation opens for the lanes at `meeting.site`: fatal where its mask names a lane that waits at a barrier.
void check_wave(const KernelEntry& kernel, const BlockIndex& index, const Meeting& meeting, const DeviceThread* lanes,
                uint32_t count);

// A barrier opens: fatal where lanes of one wavefront wait at barriers on different lines.
void check_barrier(const KernelEntry& kernel, const BlockIndex& index, const DeviceThread* lanes, uint32_t count);

}  // namespace wavepool
