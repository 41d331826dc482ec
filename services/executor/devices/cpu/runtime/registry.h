// Which kernel a host-side handle launches, and which device variable a host-side shadow stands for.
#pragma once

#include "kernel_table.h"

namespace wavepool {
// Null where the address is not a registered kernel or variable.
const KernelEntry* kernel_of(const void* handle);
const VariableEntry* variable_of(const void* shadow);
}  // namespace wavepool
