#include "sanitizer_races.h"

#include <initializer_list>

#include "sanitizer_findings.h"

namespace wavepool::sanitizer {
namespace {
const char* kind_of(Conflict conflict) {
    if (conflict == Conflict::kGrid) return "race-between-blocks";
    return conflict == Conflict::kBlock ? "race" : "lockstep";
}

const char* name_of(const Access& access) {
    if (access.is_sync) return access.is_write ? "atomic or volatile write" : "volatile read";
    return access.is_write ? "write" : "read";
}

// Whether there is a race, so that no more need be told of this word.
bool tell_conflict(const Access& before, const Access& now, const Region& region, uintptr_t address, uint64_t bytes) {
    if (before.epoch == 0) return false;
    Conflict conflict = order().conflict(before, now, region.kind);
    if (conflict == Conflict::kNone) return false;
    Finding finding{kind_of(conflict), name_of(now), bytes, address, &region, true};
    finding.other = {order().block_of(before), coordinates(before.thread), before.line};
    finding.other_access = name_of(before);
    report(finding, here(now.line));
    return conflict != Conflict::kLockstep;
}

// Keeps two readers of one block, in different wavefronts where there are such, and one of a block before it.
void remember_reader(Cell& cell, const Access& now) {
    if (cell.reader.epoch != now.epoch) {
        if (cell.reader.epoch < order().block_epoch()) cell.earlier_reader = cell.reader;
        cell.reader = now;
        cell.other_reader = {};
        return;
    }
    bool is_apart = cell.reader.thread / kWavefront != now.thread / kWavefront;
    bool was_apart = cell.other_reader.epoch && cell.other_reader.thread / kWavefront != cell.reader.thread / kWavefront;
    if (cell.reader.thread == now.thread) cell.reader.bytes |= now.bytes;
    else if (is_apart || !was_apart) cell.other_reader = now;
}

// Keeps the last one, and one of another wavefront where there is such in this block.
void remember_atomic(Cell& cell, const Access& now) {
    bool is_apart = cell.atomic.thread / kWavefront != now.thread / kWavefront;
    bool is_stale = cell.other_atomic.epoch < order().block_epoch();
    if (is_apart || (is_stale && cell.atomic.thread != now.thread)) cell.other_atomic = cell.atomic;
    cell.atomic = now;
}

void check_word(Cell& cell, const Access& now, const Region& region, uintptr_t address, uint64_t bytes) {
    for (const Access* before : {&cell.writer, &cell.atomic, &cell.other_atomic})
        if (tell_conflict(*before, now, region, address, bytes)) break;
    if (!now.is_write) return remember_reader(cell, now);
    for (const Access* before : {&cell.reader, &cell.other_reader, &cell.earlier_reader})
        if (tell_conflict(*before, now, region, address, bytes)) break;
    if (!now.is_sync) {
        cell.writer = now;
        return;
    }
    remember_atomic(cell, now);
}
}  // namespace

void check_races(Region& region, uintptr_t address, uint64_t bytes, Access now) {
    size_t begin = address - region.base, end = begin + bytes;
    for (size_t word = begin / kWordBytes; word * kWordBytes < end; ++word) {
        now.bytes = 0;
        for (uint32_t byte = 0; byte < kWordBytes; ++byte)
            if (size_t at = word * kWordBytes + byte; at >= begin && at < end) now.bytes |= 1u << byte;
        check_word(region.cells[word], now, region, address, bytes);
    }
}

}  // namespace wavepool::sanitizer
