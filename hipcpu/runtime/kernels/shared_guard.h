// What lies past the end of the dynamic shared memory that a launch asked for, in the memory of one thread of the host.
#pragma once

#include "kernel_table.h"

namespace wavepool {

class SharedGuard {
public:
    // Sets all bits of the next 16 KiB: as floats they are NaNs.
    SharedGuard(const KernelEntry& kernel, size_t launched_bytes);

    // Ends the process if a block has changed them.
    void look() const;

private:
    const KernelEntry& kernel_;
    size_t launched_bytes_;
    unsigned char* begin_ = nullptr;
    size_t bytes_ = 0;
};

}  // namespace wavepool
