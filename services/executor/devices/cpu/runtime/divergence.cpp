#include "divergence.h"

#include <cstdio>
#include <cstdlib>

namespace wavepool {
namespace {
// Not 1, which programs return for their own reasons; a SIGABRT would look like a failed assert.
constexpr int kDivergenceExit = 86;

[[noreturn]] void fail(const char* what, const KernelEntry& kernel, const BlockIndex& index, const DeviceThread& a,
                       const DeviceThread& b) {
    std::fflush(stdout);
    std::fprintf(stderr,
                 "wavepool: %s in kernel %s, block (%u, %u, %u): thread (%u, %u, %u) waits at line %d while "
                 "thread (%u, %u, %u) waits at line %d\n",
                 what, kernel.name, index.block_x, index.block_y, index.block_z, a.x, a.y, a.z, a.meeting.line, b.x,
                 b.y, b.z, b.meeting.line);
    std::_Exit(kDivergenceExit);
}
}  // namespace

void check_wave(const KernelEntry& kernel, const BlockIndex& index, const Meeting& meeting, const DeviceThread* lanes,
                uint32_t count) {
    if (meeting.mask == 0) return;
    const DeviceThread* here = nullptr;
    for (uint32_t i = 0; i < count; ++i)
        if (&lanes[i].meeting == &meeting) here = &lanes[i];
    for (uint32_t i = 0; i < count; ++i)
        if ((meeting.mask >> i & 1) && lanes[i].state == ThreadState::kAtBlock)
            fail("deadlock between a cross-lane operation and __syncthreads", kernel, index, *here, lanes[i]);
}

void check_barrier(const KernelEntry& kernel, const BlockIndex& index, const DeviceThread* lanes, uint32_t count) {
    const DeviceThread* first = nullptr;
    for (uint32_t i = 0; i < count; ++i) {
        if (lanes[i].state != ThreadState::kAtBlock) continue;
        if (!first) first = &lanes[i];
        if (lanes[i].meeting.line != first->meeting.line)
            fail("divergent __syncthreads within one wavefront", kernel, index, *first, lanes[i]);
    }
}
}  // namespace wavepool
