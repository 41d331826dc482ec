// This machine as a device: there are as many compute units as workers.
#include <sched.h>

#include <algorithm>
#include <cstdlib>

#include "../kernels/cooperative.h"
#include "device_facts.h"
#include "launch_limits.h"
#include "wavepool/host/api.h"
#include "../kernels/workers.h"

namespace wavepool {
namespace {
int count_workers() {
    if (const char* wanted = std::getenv("WAVEPOOL_CPU_WORKERS"))
        if (int count = std::atoi(wanted); count > 0) return count;
    cpu_set_t cores;
    if (sched_getaffinity(0, sizeof(cores), &cores) != 0) return 1;
    return std::max(1, CPU_COUNT(&cores));
}
}  // namespace

int worker_count() {
    static const int count = count_workers();
    return count;
}

const DeviceFacts& device_facts() {
    static const DeviceFacts facts{kWavefront, kMaxThreadsPerBlock, kSharedBytesPerBlock, uint32_t(worker_count()),
                                   kMostCooperativeBlocks};
    return facts;
}

bool told_by_gpu(const char*, void*, size_t) { return false; }
}  // namespace wavepool

extern "C" void wavepool_only_a_gpu_knows(const char*, const char*) {}
