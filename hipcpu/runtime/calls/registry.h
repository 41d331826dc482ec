// Which kernel a host-side handle launches, and which device variable a host-side shadow stands for.
#pragma once

#include "../kernels/kernel_table.h"
#include "wavepool/host/api.h"

namespace wavepool {
// Null where the address is not a registered kernel or variable.
const KernelEntry* kernel_of(const void* handle);
// What the host calls the kernel by; null if it cannot.
const void* handle_of(const KernelEntry& kernel);
const VariableEntry* variable_of(const void* shadow);
// Null, and why in `error`, also where `bytes` bytes from `offset` are not all inside the variable.
const VariableEntry* variable_with(const void* shadow, size_t bytes, size_t offset, hipError_t* error);
}  // namespace wavepool
