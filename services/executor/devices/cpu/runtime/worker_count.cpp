// How many workers there are, which is also what the device says of its compute units.
#include <sched.h>

#include <algorithm>
#include <cstdlib>

#include "workers.h"

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
}  // namespace wavepool
