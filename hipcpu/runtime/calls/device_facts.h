// What a device says of itself and is held to, where devices differ.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wavepool {

struct DeviceFacts {
    uint32_t wavefront, threads_per_block, shared_bytes_per_block, compute_units, most_cooperative_blocks;

    // Without hipFuncSetAttribute: NVIDIA's, whose warps have 32 threads, give a block 48 KiB, and more if it is asked for.
    uint32_t shared_bytes_by_default() const {
        constexpr uint32_t kOfEveryGpu = 48 << 10;
        return wavefront == 32 && shared_bytes_per_block > kOfEveryGpu ? kOfEveryGpu : shared_bytes_per_block;
    }
};

// This machine's; the recorder has those of the device that it records for (recorder/record.cpp).
const DeviceFacts& device_facts();

// Whether the answer is a GPU's, as it is in a recording for one: it is in `value` then. What the GPU was not asked ends the
// recording. Of a name that it has no such field for, `value` is left as it is.
bool told_by_gpu(const char* name, void* value, size_t bytes);

}  // namespace wavepool
