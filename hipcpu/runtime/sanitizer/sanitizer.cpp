// Checks each access of an instrumented kernel to memory: is it inside what the kernel may touch, was it written
// before, and is it ordered after what other threads did to the same bytes?
#include "sanitizer.h"

#include <cstdio>
#include <cstring>
#include <vector>

#include "../kernels/block.h"
#include "sanitizer_findings.h"
#include "sanitizer_memory.h"
#include "sanitizer_order.h"
#include "sanitizer_races.h"
#include "wavepool/check_api.h"

extern "C" const char __executable_start[], _end[];

namespace wavepool::sanitizer {
namespace {
constexpr size_t kMostComparedBytes = 256;
constexpr uint32_t kPlain = 0, kVolatile = 1, kAtomic = 2;  // as `sanitizer/instrument.py` writes them

struct Launch {
    bool has_begun = false;
    uint64_t dynamic_bytes = 0;
    bool has_variables = false;
};

struct Store {
    Region* region = nullptr;
    uintptr_t address = 0;
    uint64_t bytes = 0;
    uint32_t how = 0, line = 0;
    bool is_first = false;  // to memory that held nothing
    unsigned char old[kMostComparedBytes];
};

// A read of shared memory that held nothing. A thread may have been early, whose turn came before the writer's: then it
// is a matter of order, and told as such.
struct EarlyRead {
    const Region* region;
    uintptr_t address;
    uint64_t bytes;
    const char* access;
    Place place;
    uint32_t since;
};
constexpr size_t kMostEarlyReads = 4096;

Launch launch;
Store store;

std::vector<EarlyRead>& early_reads() {
    static auto& reads = *new std::vector<EarlyRead>;
    return reads;
}

void tell(const char* kind, const char* access, uintptr_t address, uint64_t bytes, const Region* region, uint32_t line) {
    Finding finding{kind, access, bytes, address, region};
    report(finding, here(line));
}

bool in_image(uintptr_t address) {
    return address >= reinterpret_cast<uintptr_t>(__executable_start) && address < reinterpret_cast<uintptr_t>(_end);
}

// Whether there is memory that the access may touch; tells why not.
bool check_bounds(uintptr_t address, uint64_t bytes, const Region* region, const char* access, uint32_t line) {
    if (!region) {
        if (block_runner().on_stack(reinterpret_cast<const void*>(address)) || in_image(address)) return false;
        const char* kind = address < 65536 ? "null-pointer" : "out-of-bounds";
        const Region* near = nearest_region(address);
        tell(near || address < 65536 ? kind : "no-device-memory", access, address, bytes, near, line);
        return false;
    }
    if (address < region->base || address + bytes > region->base + region->usable_bytes) {
        tell("out-of-bounds", access, address, bytes, region, line);
        return false;
    }
    if (region->is_freed) tell("use-after-free", access, address, bytes, region, line);
    return !region->is_freed;
}

void check_written(const Region& region, uintptr_t address, uint64_t bytes, const char* access, uint32_t line) {
    uint32_t since = region.kind == MemoryKind::kShared ? order().block_epoch() : 1;
    if (!never_written(region, address - region.base, bytes, since)) return;
    if (region.kind != MemoryKind::kShared) return tell("uninitialised", access, address, bytes, &region, line);
    if (early_reads().size() < kMostEarlyReads)
        early_reads().push_back({&region, address, bytes, access, here(line), since});
}

// When the threads of a block have met: what was not written until now was not written in time by anybody.
void tell_early_reads() {
    for (const EarlyRead& early : early_reads())
        if (never_written(*early.region, early.address - early.region->base, early.bytes, early.since)) {
            Finding finding{"uninitialised", early.access, early.bytes, early.address, early.region};
            report(finding, early.place);
        }
    early_reads().clear();
}

Access access_of(uint32_t how, uint32_t line, bool is_write, MemoryKind kind) {
    Access now = order().access();
    now.line = line;
    now.is_write = is_write;
    // Volatile passes on nothing between the wavefronts of a block; in one wavefront it is how lockstep is written.
    now.is_sync = how == kAtomic || (how == kVolatile && kind != MemoryKind::kShared);
    return now;
}

// The region of an access that is in order so far, else null.
Region* checked(uintptr_t address, uint64_t bytes, uint64_t alignment, const char* access, uint32_t line) {
    if (!launch.has_begun || bytes == 0) return nullptr;
    Region* region = find_region(address);
    if (!check_bounds(address, bytes, region, access, line)) return nullptr;
    if (alignment > 1 && address % alignment) tell("misaligned", access, address, bytes, region, line);
    return region;
}

void take_variable(const char* name, const void* address, uint64_t bytes, int is_shared) {
    auto base = reinterpret_cast<uintptr_t>(address);
    Region* region = region_of_variable(name, base, bytes, is_shared ? MemoryKind::kShared : MemoryKind::kVariable);
    if (region && is_shared == 2) region->usable_bytes = launch.dynamic_bytes;
}
}  // namespace

void launch_begins(const KernelEntry& kernel, uint64_t block_count, uint64_t dynamic_bytes) {
    tell_early_reads();
    launch = {true, dynamic_bytes, false};
    kernel_begins(kernel);
    order().launch_begins(block_count);
}

void block_begins(const BlockIndex& index) {
    tell_early_reads();
    // Here, because shared variables are where this worker has them.
    if (!launch.has_variables) __wp_list_variables(take_variable);
    launch.has_variables = true;
    order().block_begins(index);
}

void block_met() {
    tell_early_reads();
    order().block_met();
}
void program_ends() { tell_early_reads(); }
void wave_met(uint32_t wave) { order().wave_met(wave); }

void threads_are_stuck(const char* what, const BlockIndex& index, WaitingThread thread, WaitingThread other) {
    Coordinates block{index.block_x, index.block_y, index.block_z};
    Finding finding{"divergence", what};
    finding.has_other = true;
    finding.other = {block, coordinates(other.number), other.line};
    finding.other_access = "waits";
    report(finding, {block, coordinates(thread.number), thread.line});
    tell_early_reads();
    report_counts();
}
}  // namespace wavepool::sanitizer

using namespace wavepool;
using namespace wavepool::sanitizer;

extern "C" {
void __wp_check_read(const void* pointer, uint64_t bytes, uint64_t alignment, uint32_t how, uint32_t line) {
    auto address = reinterpret_cast<uintptr_t>(pointer);
    Region* region = checked(address, bytes, alignment, "read", line);
    if (!region) return;
    if (how != kPlain) order().synchronised(address, true, false);
    check_written(*region, address, bytes, "read", line);
    check_races(*region, address, bytes, access_of(how, line, false, region->kind));
}

// An atomic read-modify-write operation.
void __wp_check_update(const void* pointer, uint64_t bytes, uint64_t alignment, uint32_t fences, uint32_t line) {
    auto address = reinterpret_cast<uintptr_t>(pointer);
    Region* region = checked(address, bytes, alignment, "atomic", line);
    if (!region) return;
    if (fences) order().fenced();
    order().synchronised(address, true, true);
    check_written(*region, address, bytes, "atomic", line);
    check_races(*region, address, bytes, access_of(kAtomic, line, true, region->kind));
    // What an update makes of shared memory that held nothing is nothing either.
    if (region->kind != MemoryKind::kShared) mark_written(*region, address - region->base, bytes, order().epoch());
}

// Around a store: whether it changed anything is known after it.
void __wp_before_store(const void* pointer, uint64_t bytes, uint64_t alignment, uint32_t how, uint32_t line) {
    auto address = reinterpret_cast<uintptr_t>(pointer);
    store.region = checked(address, bytes, alignment, "write", line);
    if (!store.region) return;
    store.address = address, store.bytes = bytes, store.how = how, store.line = line;
    uint32_t since = store.region->kind == MemoryKind::kShared ? order().block_epoch() : 1;
    store.is_first = never_written(*store.region, address - store.region->base, bytes, since);
    if (bytes <= kMostComparedBytes) std::memcpy(store.old, pointer, bytes);
}

void __wp_after_store() {
    Region* region = store.region;
    if (!region) return;
    store.region = nullptr;
    if (store.how != kPlain) order().synchronised(store.address, false, true);
    // Threads that write what is there already do no harm to each other.
    bool is_change = store.is_first || store.bytes > kMostComparedBytes ||
                     std::memcmp(store.old, reinterpret_cast<const void*>(store.address), store.bytes) != 0;
    if (is_change) check_races(*region, store.address, store.bytes, access_of(store.how, store.line, true, region->kind));
    mark_written(*region, store.address - region->base, store.bytes, order().epoch());
}

void __wp_check_fence() {
    if (launch.has_begun) order().fenced();
}

void wavepool_name_memory(const void* memory, const char* name) {
    if (sanitizing()) sanitizer::name(memory, name);
}
}
