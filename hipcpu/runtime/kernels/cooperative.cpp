// Theory of operation: a block of a cooperative launch has a thread of the host for itself. Its own threads wait at
// a barrier of the block before and after one of them waits here for the other blocks, so that nothing but blocks waits
// for blocks. Threads that could not all be started are let go again before any has run.
#include "cooperative.h"

#include <pthread.h>

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "shared_guard.h"
#include "stopped.h"
#include "workers.h"

namespace wavepool {
namespace {
constexpr size_t kBlockStackBytes = 16 << 20;

struct Grid {
    const KernelEntry* kernel;
    void** arguments;
    BlockIndex shape;
    uint32_t block_count;
    size_t shared_bytes;
    std::mutex mutex;
    std::condition_variable changed;
    bool may_run = false, is_called_off = false;
    uint32_t arrived = 0;
    uint64_t barriers = 0;
};

struct Block {
    Grid* grid;
    uint32_t number;
};

thread_local Grid* current = nullptr;

void* run_one(void* argument) {
    Block& block = *static_cast<Block*>(argument);
    Grid& grid = *block.grid;
    {
        std::unique_lock<std::mutex> lock(grid.mutex);
        grid.changed.wait(lock, [&] { return grid.may_run || grid.is_called_off; });
        if (grid.is_called_off) return nullptr;
    }
    current = &grid;
    const SharedGuard guard(*grid.kernel, grid.shared_bytes);
    run_block(*grid.kernel, grid.arguments, grid.shape, block.number);
    guard.look();
    return nullptr;
}

std::vector<pthread_t> started(std::vector<Block>& blocks) {
    std::vector<pthread_t> threads;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, kBlockStackBytes);
    for (Block& block : blocks) {
        pthread_t thread;
        if (pthread_create(&thread, &attributes, run_one, &block) != 0) break;
        threads.push_back(thread);
    }
    pthread_attr_destroy(&attributes);
    return threads;
}
}  // namespace

bool run_cooperative_grid(const KernelEntry& kernel, void** arguments, const BlockIndex& shape,
                          const LaunchOrder& order) {
    const uint32_t count = shape.grid_dim_x * shape.grid_dim_y * shape.grid_dim_z;
    Grid grid{&kernel, arguments, shape, count, order.shared_bytes, {}, {}};
    std::vector<Block> blocks;
    for (uint32_t number = 0; number < count; ++number) blocks.push_back({&grid, number});
    std::vector<pthread_t> threads = started(blocks);
    {
        std::lock_guard<std::mutex> lock(grid.mutex);
        (threads.size() == count ? grid.may_run : grid.is_called_off) = true;
    }
    grid.changed.notify_all();
    for (pthread_t thread : threads) pthread_join(thread, nullptr);
    return threads.size() == count;
}
}  // namespace wavepool

extern "C" {
int __wp_is_cooperative() { return wavepool::current != nullptr; }

// The caller is one thread of its block, and the block's others wait for it.
void __wp_grid_barrier() {
    wavepool::Grid* grid = wavepool::current;
    if (!grid) {
        std::fflush(stdout);
        std::fputs("wavepool: grid.sync() in a kernel that was launched with <<<>>>: launch it with "
                   "hipLaunchCooperativeKernel\n", stderr);
        std::_Exit(wavepool::kStoppedExit);
    }
    std::unique_lock<std::mutex> lock(grid->mutex);
    const uint64_t barrier = grid->barriers;
    if (++grid->arrived == grid->block_count) {
        grid->arrived = 0;
        ++grid->barriers;
        grid->changed.notify_all();
        return;
    }
    grid->changed.wait(lock, [&] { return grid->barriers != barrier; });
}
}
