#include "workers.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>

#include "block.h"
#include "region_runner.h"
#include "shared_guard.h"

namespace wavepool {
namespace {
// Kernels compiled as loops keep the private arrays of a thread on the worker's stack.
constexpr size_t kWorkerStackBytes = 16 << 20;
// Blocks are handed out in runs so that tiny blocks do not fight over the counter.
constexpr uint64_t kRunsPerWorker = 16;

struct Launch {
    const KernelEntry* kernel;
    void** arguments;
    BlockIndex shape;
    uint64_t block_count;
    uint64_t run_length;
    size_t shared_bytes;
    std::atomic<uint64_t> next{0};
};

void run_blocks(Launch& launch) {
    auto take = [&] { return launch.next.fetch_add(launch.run_length, std::memory_order_relaxed); };
    uint64_t block = take();
    if (block >= launch.block_count) return;
    const SharedGuard guard(*launch.kernel, launch.shared_bytes);
    for (; block < launch.block_count; block = take()) {
        const uint64_t end = std::min(block + launch.run_length, launch.block_count);
        for (; block < end; ++block) run_block(*launch.kernel, launch.arguments, launch.shape, block);
    }
    guard.look();
}

class Workers {
public:
    explicit Workers(int count) {
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setstacksize(&attributes, kWorkerStackBytes);
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        for (int i = 0; i < count; ++i) {
            pthread_t thread;
            if (pthread_create(&thread, &attributes, [](void* self) -> void* {
                    static_cast<Workers*>(self)->serve();
                    return nullptr;
                }, this) == 0)
                ++started_;
        }
        pthread_attr_destroy(&attributes);
    }

    void run(Launch& launch) {
        if (started_ == 0) return run_blocks(launch);  // the sandbox or its machine has no room for a thread
        std::unique_lock<std::mutex> lock(mutex_);
        launch_ = &launch;
        ++generation_;
        busy_ = started_;
        wake_.notify_all();
        idle_.wait(lock, [this] { return busy_ == 0; });
    }

private:
    void serve() {
        uint64_t seen = 0;
        std::unique_lock<std::mutex> lock(mutex_);
        for (;;) {
            wake_.wait(lock, [&] { return generation_ != seen; });
            seen = generation_;
            Launch& launch = *launch_;
            lock.unlock();
            run_blocks(launch);
            lock.lock();
            if (--busy_ == 0) idle_.notify_one();
        }
    }

    std::mutex mutex_;
    std::condition_variable wake_, idle_;
    Launch* launch_ = nullptr;
    uint64_t generation_ = 0;
    int started_ = 0;
    int busy_ = 0;
};

// Never destroyed: detached threads wait in it until the process ends.
Workers& workers() {
    static Workers& instance = *new Workers(worker_count());
    return instance;
}
}  // namespace

void run_block(const KernelEntry& kernel, void** arguments, const BlockIndex& shape, uint64_t block) {
    static thread_local RegionRunner regions;
    BlockIndex index = shape;
    index.block_x = uint32_t(block % index.grid_dim_x);
    index.block_y = uint32_t(block / index.grid_dim_x % index.grid_dim_y);
    index.block_z = uint32_t(block / index.grid_dim_x / index.grid_dim_y);
    if (!kernel.run) regions.run(kernel, arguments, index);
    else block_runner().run(kernel, arguments, index);
}

void run_grid(const KernelEntry& kernel, void** arguments, const BlockIndex& shape, const LaunchOrder& order) {
    static std::mutex& one_launch_at_a_time = *new std::mutex;
    std::lock_guard<std::mutex> lock(one_launch_at_a_time);
    Launch launch{&kernel, arguments, shape, uint64_t(shape.grid_dim_x) * shape.grid_dim_y * shape.grid_dim_z, 1,
                  order.shared_bytes};
    launch.run_length = std::max<uint64_t>(1, launch.block_count / (worker_count() * kRunsPerWorker));
    workers().run(launch);
}

}  // namespace wavepool
