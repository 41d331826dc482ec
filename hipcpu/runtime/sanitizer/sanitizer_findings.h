// Where findings go: a file of JSON lines, each at once, so that a crash keeps those before it.
#pragma once

#include <cstdint>

#include "../kernels/kernel_table.h"
#include "sanitizer_order.h"

namespace wavepool::sanitizer {

struct Finding {
    const char* kind;
    const char* access = "";
    uint64_t bytes = 0;
    uintptr_t address = 0;
    const Region* region = nullptr;  // that `address` is in or near
    bool has_other = false;
    Place other{};
    const char* other_access = "";
};

// Findings are in this kernel from now on.
void kernel_begins(const KernelEntry& kernel);
// Of the same kind at the same lines the first is told at once, and at the end how many.
void report(const Finding& finding, const Place& place);
// Tells how often each finding was made; for the end of the process.
void report_counts();

}  // namespace wavepool::sanitizer
