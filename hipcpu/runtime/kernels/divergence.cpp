#include "divergence.h"

#include <cstdio>
#include <cstdlib>

#include "../calls/kernel_name.h"
#include "../sanitizer/sanitizer.h"
#include "stopped.h"

namespace wavepool {
namespace {
void print_thread(const BlockIndex& index, WaitingThread thread) {
    uint32_t x = thread.number % index.block_dim_x, row = thread.number / index.block_dim_x;
    uint32_t y = row % index.block_dim_y, z = row / index.block_dim_y;
    if (z >= index.block_dim_z)
        std::fprintf(stderr, "the block has no lane %u of its last wavefront", thread.number % kWavefront);
    else if (thread.line == kNotThere) std::fprintf(stderr, "thread (%u, %u, %u) has ended", x, y, z);
    else std::fprintf(stderr, "thread (%u, %u, %u) waits at line %u", x, y, z, thread.line);
}
}  // namespace

void fail(const char* what, const KernelEntry& kernel, const BlockIndex& index, WaitingThread a, WaitingThread b) {
    if (sanitizing()) sanitizer::threads_are_stuck(what, index, a, {b.number, b.line == kNotThere ? 0 : b.line});
    std::fflush(stdout);
    std::fprintf(stderr, "wavepool: %s in kernel %s, block (%u, %u, %u): ", what, name_in_source(kernel), index.block_x,
                 index.block_y, index.block_z);
    print_thread(index, a);
    std::fputs(" while ", stderr);
    print_thread(index, b);
    std::fputs("\n", stderr);
    std::_Exit(kStoppedExit);
}

void fail_without_lane(const KernelEntry& kernel, const BlockIndex& index, WaitingThread waiting, WaitingThread other) {
    fail("matrix instruction without all 64 lanes of its wavefront", kernel, index, waiting, other);
}
}  // namespace wavepool
