// What a device says of itself and is held to, where devices differ.
#pragma once

#include <cstdint>

namespace wavepool {

struct DeviceFacts {
    uint32_t wavefront, threads_per_block, shared_bytes_per_block, compute_units, most_cooperative_blocks;
};

// This machine's; the recorder has those of the device that it records for (recorder/record.cpp).
const DeviceFacts& device_facts();

}  // namespace wavepool
