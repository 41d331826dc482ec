#include "sanitizer_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <deque>
#include <map>

#include "sanitizer.h"

namespace wavepool::sanitizer {
namespace {
constexpr size_t kPage = 4096;
constexpr size_t kLeastGuard = 64 << 10, kMostGuard = 4 << 20;
constexpr size_t kVariableGuard = 64;  // `sanitizer/variables.py` puts it behind each
constexpr size_t kNear = 4096;
constexpr size_t kMostFreedBytes = size_t(512) << 20;
constexpr uint32_t kBeforeAllLaunches = 1;

struct Memory {
    std::map<uintptr_t, Region> regions;  // by where their guard zones begin
    std::deque<uintptr_t> freed;
    size_t freed_bytes = 0;
    unsigned allocations = 0;
    Region* last = nullptr;
};

Memory& memory() {
    static Memory& instance = *new Memory;
    return instance;
}

// Zeros that take no memory until they are touched.
void* reserve(size_t bytes) {
    void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return pages == MAP_FAILED ? nullptr : pages;
}

size_t mapped_bytes(const Region& region) { return region.guard_before + region.bytes + region.guard_after; }
size_t cell_bytes(const Region& region) { return (region.bytes / kWordBytes + 2) * sizeof(Cell); }
size_t written_bytes(const Region& region) { return (region.bytes + 1) * sizeof(uint32_t); }

bool add_shadow(Region& region) {
    region.cells = static_cast<Cell*>(reserve(cell_bytes(region)));
    region.written = static_cast<uint32_t*>(reserve(written_bytes(region)));
    return region.cells && region.written;
}

Region* add(const Region& region) {
    memory().last = nullptr;
    return &memory().regions.insert_or_assign(region.base - region.guard_before, region).first->second;
}

void unmap(const Region& region) {
    munmap(reinterpret_cast<void*>(region.base - region.guard_before), mapped_bytes(region));
    munmap(region.cells, cell_bytes(region));
    munmap(region.written, written_bytes(region));
}

void drop_oldest_freed() {
    Memory& all = memory();
    auto found = all.regions.find(all.freed.front());
    all.freed.pop_front();
    all.freed_bytes -= found->second.bytes;
    unmap(found->second);
    all.last = nullptr;
    all.regions.erase(found);
}

// Where the data starts in its page, so that it ends at the guard zone but for what alignment costs.
Region fresh_region(size_t bytes) {
    Region region;
    region.bytes = (bytes + kPage - 1) / kPage * kPage;
    region.usable_bytes = bytes;
    region.guard_before = region.guard_after = std::clamp(region.bytes, kLeastGuard, kMostGuard);
    return region;
}
}  // namespace

Region* find_region(uintptr_t address) {
    Memory& all = memory();
    if (all.last && all.last->holds(address)) return all.last;
    auto next = all.regions.upper_bound(address);
    if (next == all.regions.begin()) return nullptr;
    Region& region = std::prev(next)->second;
    return region.holds(address) ? all.last = &region : nullptr;
}

const Region* nearest_region(uintptr_t address) {
    auto next = memory().regions.upper_bound(address);
    if (next != memory().regions.begin()) {
        const Region& before = std::prev(next)->second;
        if (address - before.base - before.bytes < kNear) return &before;
    }
    if (next != memory().regions.end() && next->second.base - address < kNear) return &next->second;
    return nullptr;
}

Region* region_of_variable(const char* name, uintptr_t base, size_t bytes, MemoryKind kind) {
    auto found = memory().regions.find(base);
    if (found != memory().regions.end() && found->second.bytes == bytes) return &found->second;
    Region region;
    region.base = base, region.bytes = region.usable_bytes = bytes, region.kind = kind;
    region.guard_after = kVariableGuard;
    std::snprintf(region.name, sizeof(region.name), "%s", name);
    if (!add_shadow(region)) return nullptr;
    if (kind != MemoryKind::kShared) mark_written(region, 0, bytes, kBeforeAllLaunches);
    return add(region);
}

void mark_written(Region& region, size_t offset, size_t bytes, uint32_t epoch) {
    if (!region.written || offset >= region.bytes) return;
    std::fill_n(region.written + offset, std::min(bytes, region.bytes - offset), epoch);
}

bool never_written(const Region& region, size_t offset, size_t bytes, uint32_t since) {
    return std::all_of(region.written + offset, region.written + offset + bytes,
                       [since](uint32_t epoch) { return epoch == 0 || epoch < since; });
}

void* allocate(size_t bytes, bool is_written) {
    Region region = fresh_region(bytes);
    void* pages = reserve(mapped_bytes(region));
    if (!pages || !add_shadow(region)) return nullptr;
    region.base = reinterpret_cast<uintptr_t>(pages) + region.guard_before;
    std::snprintf(region.name, sizeof(region.name), "allocation %u", ++memory().allocations);
    if (is_written) mark_written(region, 0, bytes, kBeforeAllLaunches);
    add(region);
    return reinterpret_cast<void*>(region.base);
}

void release(void* pointer) {
    Region* region = find_region(reinterpret_cast<uintptr_t>(pointer));
    if (!region || region->is_freed) return;
    region->is_freed = true;
    memory().freed.push_back(region->base - region->guard_before);
    memory().freed_bytes += region->bytes;
    while (memory().freed_bytes > kMostFreedBytes) drop_oldest_freed();
}

void name(const void* pointer, const char* name) {
    if (Region* region = find_region(reinterpret_cast<uintptr_t>(pointer)))
        std::snprintf(region->name, sizeof(region->name), "%s", name);
}

void add_host_memory(const void* pointer, size_t bytes) {
    Region region;
    region.base = reinterpret_cast<uintptr_t>(pointer);
    region.bytes = region.usable_bytes = bytes, region.kind = MemoryKind::kHost;
    std::snprintf(region.name, sizeof(region.name), "registered host memory");
    if (!add_shadow(region)) return;
    mark_written(region, 0, bytes, kBeforeAllLaunches);
    add(region);
}

void host_wrote(const void* target, size_t bytes) {
    auto address = reinterpret_cast<uintptr_t>(target);
    if (Region* region = find_region(address); region && address >= region->base)
        mark_written(*region, address - region->base, bytes, kBeforeAllLaunches);
}

void host_copied(const void* target, const void* source, size_t bytes) {
    auto from = reinterpret_cast<uintptr_t>(source), to = reinterpret_cast<uintptr_t>(target);
    Region* read = find_region(from);
    Region* wrote = find_region(to);
    bool has_shadows = read && wrote && read->written && wrote->written && from >= read->base && to >= wrote->base &&
                       from + bytes <= read->base + read->bytes && to + bytes <= wrote->base + wrote->bytes;
    if (!has_shadows || read->kind == MemoryKind::kShared) return host_wrote(target, bytes);
    std::memmove(wrote->written + (to - wrote->base), read->written + (from - read->base), bytes * sizeof(uint32_t));
}

}  // namespace wavepool::sanitizer
