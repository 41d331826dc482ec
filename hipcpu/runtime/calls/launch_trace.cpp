#include "launch_trace.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

#include "kernel_name.h"

namespace wavepool {
namespace {
// The columns of rocprofv3 that have a meaning here, so that one parser reads both. Its grid is in threads.
constexpr const char* kHeader =
    "\"Kernel_Name\",\"Start_Timestamp\",\"End_Timestamp\",\"LDS_Block_Size\",\"Workgroup_Size_X\",\"Workgroup_Size_Y\","
    "\"Workgroup_Size_Z\",\"Grid_Size_X\",\"Grid_Size_Y\",\"Grid_Size_Z\"\n";

FILE* open_trace() {
    const char* path = std::getenv("WAVEPOOL_KERNEL_TRACE");
    FILE* file = path ? std::fopen(path, "we") : nullptr;
    if (file) std::fputs(kHeader, file);
    return file;
}

FILE* trace() {
    static FILE* const file = open_trace();
    return file;
}

uint64_t now_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return uint64_t(now.tv_sec) * 1'000'000'000u + uint64_t(now.tv_nsec);
}
}  // namespace

TracedLaunch::TracedLaunch(const KernelEntry& kernel, dim3 grid, dim3 block, size_t shared_bytes)
    : kernel_(kernel), grid_(grid), block_(block), shared_bytes_(shared_bytes), begin_ns_(trace() ? now_ns() : 0) {}

TracedLaunch::~TracedLaunch() {
    if (!trace()) return;
    const uint64_t end_ns = now_ns();
    std::string name = name_in_source(kernel_);
    std::replace(name.begin(), name.end(), '"', '\'');
    std::fprintf(trace(), "\"%s\",%llu,%llu,%zu,%u,%u,%u,%llu,%llu,%llu\n", name.c_str(),
                 static_cast<unsigned long long>(begin_ns_), static_cast<unsigned long long>(end_ns),
                 kernel_.shared_bytes + shared_bytes_, block_.x, block_.y, block_.z,
                 static_cast<unsigned long long>(grid_.x) * block_.x, static_cast<unsigned long long>(grid_.y) * block_.y,
                 static_cast<unsigned long long>(grid_.z) * block_.z);
}
}  // namespace wavepool
