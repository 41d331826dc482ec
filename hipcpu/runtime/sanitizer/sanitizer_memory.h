// The memory that kernels may use, with a shadow: what was written, and who touched it last.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wavepool::sanitizer {

constexpr uint32_t kWordBytes = 4;

// One access to a word, as later ones need to know of it. `epoch` grows with each launch, block and barrier, so that it
// tells all three apart; 0 is no access. `bytes` is a mask of the word's bytes.
struct Access {
    uint32_t epoch;
    uint32_t thread : 10, bytes : 4, is_sync : 1, is_write : 1;
    uint32_t wave_epoch;
    uint32_t line;
};

struct Cell {
    Access writer;                // by a plain store
    Access atomic, other_atomic;  // the last, and one of another thread where there was one
    Access reader, other_reader;  // of one block; in different wavefronts where two of them read
    Access earlier_reader;        // of a block before that one
};

enum class MemoryKind : uint8_t { kGlobal, kShared, kVariable, kHost };

struct Region {
    uintptr_t base = 0;
    size_t bytes = 0;
    size_t usable_bytes = 0;  // of these; what is behind them is there and must not be touched
    size_t guard_before = 0, guard_after = 0;
    MemoryKind kind = MemoryKind::kGlobal;
    bool is_freed = false;
    Cell* cells = nullptr;        // one for each word
    uint32_t* written = nullptr;  // for each byte the epoch when it was last written; 0 for never
    char name[64] = {};

    bool holds(uintptr_t address) const { return address >= base - guard_before && address < base + bytes + guard_after; }
};

// The region that has `address` in it or in one of its guard zones.
Region* find_region(uintptr_t address);
// The one that lies nearest, if there is one within a few KiB; for messages.
const Region* nearest_region(uintptr_t address);
Region* region_of_variable(const char* name, uintptr_t base, size_t bytes, MemoryKind kind);
void mark_written(Region& region, size_t offset, size_t bytes, uint32_t epoch);
// Whether no byte of it was written at or after `since`.
bool never_written(const Region& region, size_t offset, size_t bytes, uint32_t since);

}  // namespace wavepool::sanitizer
