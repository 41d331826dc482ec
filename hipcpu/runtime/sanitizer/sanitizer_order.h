// Which accesses of other threads are certain to come before what the running thread does.
#pragma once

#include <cstdint>

#include "../kernels/kernel_table.h"
#include "sanitizer_memory.h"

namespace wavepool::sanitizer {

enum class Conflict : uint8_t { kNone, kBlock, kGrid, kLockstep };

struct Coordinates {
    uint32_t x, y, z;
};

struct Place {
    Coordinates block;
    Coordinates thread;
    uint32_t line;
};

// Where the running thread stands, and what it and its block have seen.
class Order {
public:
    void launch_begins(uint64_t block_count);
    void block_begins(const BlockIndex& index);
    void block_met() { ++epoch_; }
    void wave_met(uint32_t wave) { ++wave_epochs_[wave]; }

    uint32_t epoch() const { return epoch_; }
    uint32_t block_epoch() const { return block_epoch_; }
    uint32_t launch_epoch() const { return launch_epoch_; }
    // An access of the running thread; `line` and the flags are the caller's to set.
    Access access() const;
    // Whether the running thread's `now` is a race with an earlier access to the same word.
    Conflict conflict(const Access& before, const Access& now, MemoryKind kind) const;

    // The running thread's fences, and its atomic or volatile accesses to `address`.
    void fenced();
    void synchronised(uintptr_t address, bool reads, bool writes);

    // The block that an access of this launch was in.
    Coordinates block_of(const Access& access) const;

private:
    bool seen(uint32_t block) const;
    uint32_t block_number(const Access& access) const;

    uint32_t epoch_ = 1, block_epoch_ = 1, launch_epoch_ = 1;
    uint32_t wave_epochs_[kMaxThreadsPerBlock / kWavefront] = {};
    uint64_t block_count_ = 0;
    BlockIndex shape_{};
};

Order& order();
// The running thread, by its number in the block.
uint32_t current_thread();
Coordinates coordinates(uint32_t thread);
// The running thread at `line`.
Place here(uint32_t line);

}  // namespace wavepool::sanitizer
