// What the build tells the recorder of a source: its kernels' arguments (hipcpu/recorder_module.py).
#pragma once

#include <cstdint>

#include "../kernels/kernel_table.h"

namespace wavepool::recorder {

struct ArgumentLayout {
    uint64_t bytes;
    const unsigned char* mask;  // a byte each: 0 for padding, which holds whatever was there before
};

struct KernelLayout {
    uint64_t argument_count;
    const ArgumentLayout* arguments;
};

struct Recorded {
    const KernelTable* table;  // null if the source has neither kernels nor device variables
    const KernelLayout* layouts;
    const char* managed;  // the name of a __managed__ variable, or null
};

}  // namespace wavepool::recorder

extern "C" const wavepool::recorder::Recorded wavepool_recorded;
