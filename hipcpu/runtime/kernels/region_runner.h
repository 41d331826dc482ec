// Runs the threads of one block of a kernel in region form.
#pragma once

#include <memory>

#include "kernel_table.h"

namespace wavepool {

// Compiled kernels expect vectors in the context to be aligned to their size; the largest has 32 doubles.
struct alignas(256) ContextPart {
    char bytes[256];
};

class RegionRunner {
public:
    RegionRunner();
    // Runs one block to its end. Ends the process where threads wait for each other forever.
    void run(const KernelEntry& kernel, void** arguments, const BlockIndex& index);

private:
    uint32_t run_divergent();
    bool release_wave(uint32_t wave);
    uint32_t next_region(uint32_t wave) const;
    void execute_matrix(uint32_t wave, uint64_t lanes, uint32_t region);
    void release_alive();
    void release_all(uint32_t region);
    void run_lanes(uint32_t wave, uint64_t lanes, uint32_t region);
    uint32_t common_region() const;
    uint64_t lanes_at(uint32_t wave, uint32_t region) const;
    uint64_t wave_mask(uint32_t wave) const;
    const BarrierEntry& barrier(uint32_t region) const { return kernel_->barriers[region - 1]; }
    void check_mask(uint32_t wave, uint64_t group, uint32_t region) const;
    void check_barrier(uint32_t wave) const;

    const KernelEntry* kernel_ = nullptr;
    void** arguments_ = nullptr;
    BlockIndex index_{};
    uint32_t thread_count_ = 0;
    uint32_t wave_count_ = 0;
    uint32_t side_ = 0;
    std::unique_ptr<BarrierArea> area_;
    std::unique_ptr<ContextPart[]> context_;
    uint64_t context_bytes_ = 0;
};

}  // namespace wavepool
