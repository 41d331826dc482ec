// Names of kernels for people.
#pragma once

#include "../kernels/kernel_table.h"

namespace wavepool {
// As the source spells it, without its parameters; valid until this thread asks again.
const char* name_in_source(const KernelEntry& kernel);
}  // namespace wavepool
