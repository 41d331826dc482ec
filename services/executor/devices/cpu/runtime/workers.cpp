#include "workers.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "block.h"
#include "divergence.h"
#include "kernel_name.h"
#include "launch_limits.h"
#include "region_runner.h"
#include "sanitizer.h"

namespace wavepool {
namespace {
// Kernels compiled as loops keep the private arrays of a thread on the worker's stack.
constexpr size_t kWorkerStackBytes = 16 << 20;
// Blocks are handed out in runs so that tiny blocks do not fight over the counter.
constexpr uint64_t kRunsPerWorker = 16;
// As far as an array of another size, or one array too many, reaches; laying and looking takes under a microsecond.
constexpr size_t kGuardBytes = 16 << 10;

struct Launch {
    const KernelEntry* kernel;
    void** arguments;
    BlockIndex shape;
    uint64_t block_count;
    uint64_t run_length;
    size_t shared_bytes;
    std::atomic<uint64_t> next{0};
};

// What lies behind the dynamic shared memory of a launch: who reads there reads NaNs, and who writes there is found.
class SharedGuard {
public:
    explicit SharedGuard(const Launch& launch) : launch_(launch) {
        if (launch.shared_bytes == 0 || !launch.kernel->dynamic_shared || sanitizing()) return;
        begin_ = launch.kernel->dynamic_shared() + launch.shared_bytes;
        bytes_ = std::min<size_t>(kGuardBytes, kSharedBytesPerBlock - launch.shared_bytes);
        std::memset(begin_, kUntouched, bytes_);
    }

    void look() const {
        unsigned char changed = 0;  // without an early end, so that it is a loop over vectors
        for (size_t at = 0; at < bytes_; ++at) changed |= begin_[at] ^ kUntouched;
        if (!changed) return;
        const unsigned char* first = std::find_if(begin_, begin_ + bytes_, [](auto byte) { return byte != kUntouched; });
        std::fflush(stdout);
        std::fprintf(stderr, "wavepool: overrun of shared memory in kernel %s: launched with %zu bytes, written at %zu\n",
                     name_in_source(*launch_.kernel), launch_.shared_bytes,
                     launch_.shared_bytes + size_t(first - begin_));
        std::_Exit(kStoppedExit);
    }

private:
    static constexpr unsigned char kUntouched = 0xff;
    const Launch& launch_;
    unsigned char* begin_ = nullptr;
    size_t bytes_ = 0;
};

void run_blocks(Launch& launch) {
    auto take = [&] { return launch.next.fetch_add(launch.run_length, std::memory_order_relaxed); };
    uint64_t block = take();
    if (block >= launch.block_count) return;
    const SharedGuard guard(launch);
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
        if (started_ == 0) return run_blocks(launch);  // the box or its machine has no room for a thread
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
