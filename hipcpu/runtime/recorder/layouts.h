// What the build tells the recorder of a source (hipcpu/recorder_module.py).
#pragma once

#include <cstdint>

#include "../kernels/kernel_table.h"

namespace wavepool::recorder {

struct Recorded {
    const KernelTable* table;  // null if the source has neither kernels nor device variables
    const char* managed;  // the name of a __managed__ variable, or null
};

}  // namespace wavepool::recorder

extern "C" const wavepool::recorder::Recorded wavepool_recorded;
