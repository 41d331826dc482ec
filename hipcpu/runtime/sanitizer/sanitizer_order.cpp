// Theory of operation: blocks run one after another and the threads of a block in turns, so an order is observed that a
// GPU does not promise. What it does promise is: launches follow each other; threads of a block are ordered by
// barriers, which end an epoch; lanes of a wavefront by cross-lane operations. Between blocks, and between threads
// within an epoch, one thread can pass on what happened: a fence and then an atomic or volatile write to some address
// releases all that its block did or has seen; an atomic or volatile read of that address takes it over. Both are
// counted for the whole block, which may hide a race and never makes one up.
#include "sanitizer_order.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "../kernels/block.h"

namespace wavepool::sanitizer {
namespace {
constexpr uint64_t kMostBlocks = 1 << 16;  // that are kept apart in sets

using BlockSet = std::vector<uint64_t>;

struct Signals {
    std::vector<uint32_t> block_epochs;               // of each block of the launch, when it began
    std::vector<uint32_t> block_numbers;              // in the order in which they ran
    BlockSet seen;                                    // blocks whose doings the running block has taken over
    std::unordered_map<uintptr_t, BlockSet> released; // by the address that passes them on
    bool has_fenced = false;                          // the running block
    uint32_t fence_epochs[kMaxThreadsPerBlock], release_epochs[kMaxThreadsPerBlock], take_epochs[kMaxThreadsPerBlock];
};

Signals& signals() {
    static Signals& instance = *new Signals;
    return instance;
}

void unite(BlockSet& into, const BlockSet& from) {
    if (into.size() < from.size()) into.resize(from.size());
    for (size_t i = 0; i < from.size(); ++i) into[i] |= from[i];
}

void insert(BlockSet& set, uint32_t block) {
    if (set.size() <= block / 64) set.resize(block / 64 + 1);
    set[block / 64] |= 1ull << (block % 64);
}
}  // namespace

Order& order() {
    static Order& instance = *new Order;
    return instance;
}

uint32_t current_thread() { return block_runner().thread(); }

Coordinates coordinates(uint32_t thread) {
    const BlockIndex& index = block_runner().index();
    uint32_t x = thread % index.block_dim_x, row = thread / index.block_dim_x;
    return {x, row % index.block_dim_y, row / index.block_dim_y};
}

Place here(uint32_t line) {
    const BlockIndex& index = block_runner().index();
    return {{index.block_x, index.block_y, index.block_z}, coordinates(current_thread()), line};
}

void Order::launch_begins(uint64_t block_count) {
    launch_epoch_ = ++epoch_;
    block_count_ = block_count;
    Signals& all = signals();
    all.block_epochs.clear();
    all.block_numbers.clear();
    all.released.clear();
}

void Order::block_begins(const BlockIndex& index) {
    block_epoch_ = ++epoch_;
    shape_ = index;
    Signals& all = signals();
    all.block_epochs.push_back(epoch_);
    all.block_numbers.push_back((index.block_z * index.grid_dim_y + index.block_y) * index.grid_dim_x + index.block_x);
    all.seen.clear();
    all.has_fenced = false;
}

Access Order::access() const {
    Access access{};
    access.epoch = epoch_;
    access.thread = current_thread();
    access.wave_epoch = wave_epochs_[current_thread() / kWavefront];
    return access;
}

Conflict Order::conflict(const Access& before, const Access& now, MemoryKind kind) const {
    if (before.epoch < launch_epoch_ || !(before.bytes & now.bytes) || (before.is_sync && now.is_sync))
        return Conflict::kNone;
    bool is_shared = kind == MemoryKind::kShared;
    // A plain read beside atomic updates gets an older or a newer value, which many algorithms allow for.
    bool is_stale_read = (before.is_sync && !now.is_write) || (now.is_sync && !before.is_write);
    if (is_stale_read && !is_shared) return Conflict::kNone;
    if (before.epoch < block_epoch_)
        return is_shared || seen(block_number(before)) ? Conflict::kNone : Conflict::kGrid;
    if (before.epoch != epoch_ || before.thread == now.thread) return Conflict::kNone;
    const Signals& all = signals();
    if (all.release_epochs[before.thread] == epoch_ && all.take_epochs[now.thread] == epoch_) return Conflict::kNone;
    if (before.thread / kWavefront != now.thread / kWavefront) return Conflict::kBlock;
    return before.wave_epoch == now.wave_epoch ? Conflict::kLockstep : Conflict::kNone;
}

void Order::fenced() {
    signals().has_fenced = true;
    signals().fence_epochs[current_thread()] = epoch_;
}

void Order::synchronised(uintptr_t address, bool reads, bool writes) {
    Signals& all = signals();
    uint32_t thread = current_thread();
    if (reads) {
        all.take_epochs[thread] = epoch_;
        if (auto found = all.released.find(address); found != all.released.end()) unite(all.seen, found->second);
    }
    if (!writes || !all.has_fenced) return;
    if (all.fence_epochs[thread] == epoch_) all.release_epochs[thread] = epoch_;
    if (block_count_ > kMostBlocks) return;
    BlockSet& passed = all.released[address];
    unite(passed, all.seen);
    insert(passed, all.block_numbers.back());
}

bool Order::seen(uint32_t block) const {
    const Signals& all = signals();
    // Too many to tell apart: one fence is taken for the order of all.
    if (block_count_ > kMostBlocks && all.has_fenced) return true;
    return block / 64 < all.seen.size() && (all.seen[block / 64] >> (block % 64) & 1);
}

uint32_t Order::block_number(const Access& access) const {
    const Signals& all = signals();
    auto next = std::upper_bound(all.block_epochs.begin(), all.block_epochs.end(), access.epoch);
    return next == all.block_epochs.begin() ? 0 : all.block_numbers[size_t(next - all.block_epochs.begin()) - 1];
}

Coordinates Order::block_of(const Access& access) const {
    uint32_t number = block_number(access), x = shape_.grid_dim_x, y = shape_.grid_dim_y;
    return {number % x, number / x % y, number / x / y};
}

}  // namespace wavepool::sanitizer
