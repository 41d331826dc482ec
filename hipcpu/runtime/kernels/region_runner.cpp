// Theory of operation: as long as all threads of a block come to the same barrier, a region is run for the whole block
// with one call, the barrier's results are made, and the next region follows. When threads diverge, each wavefront goes
// on alone: of its lanes that wait for the wavefront, those at the first barrier in program order pass it and run their
// next region; when no lane waits for its wavefront, the block's barrier opens for all threads that are left.
// When all threads are at one place again, the block goes on as a whole.
#include "region_runner.h"

#include <cstring>

#include "divergence.h"

namespace wavepool {

RegionRunner::RegionRunner() : area_(new BarrierArea{}) {}

void RegionRunner::run(const KernelEntry& kernel, void** arguments, const BlockIndex& index) {
    kernel_ = &kernel;
    arguments_ = arguments;
    index_ = index;
    thread_count_ = index.block_dim_x * index.block_dim_y * index.block_dim_z;
    wave_count_ = (thread_count_ + kWavefront - 1) / kWavefront;
    if (kernel.context_bytes > context_bytes_) {
        context_.reset(new ContextPart[kernel.context_bytes / sizeof(ContextPart) + 1]);
        context_bytes_ = kernel.context_bytes;
    }
    side_ = 0;
    for (uint32_t region = 0;;) {
        const ThreadBox whole{0, index_.block_dim_x, 0, index_.block_dim_y, 0, index_.block_dim_z, side_};
        uint64_t next = kernel_->regions(arguments_, &index_, context_.get(), area_.get(), region, &whole);
        side_ ^= 1;
        region = uint32_t(next);
        if (uint32_t(next >> 32) != region) region = run_divergent();
        if (region == 0) return;
        release_all(region);
    }
}

// Runs threads that are at different places until all are at the same one, which it returns: 0 when all have ended.
uint32_t RegionRunner::run_divergent() {
    for (;;) {
        bool released = false;
        for (uint32_t wave = 0; wave < wave_count_; ++wave) released |= release_wave(wave);
        if (!released) release_alive();
        side_ ^= 1;
        uint32_t region = common_region();
        if (region != ~0u) return region;
    }
}

bool RegionRunner::release_wave(uint32_t wave) {
    uint32_t begin = wave * kWavefront, end = begin + uint32_t(__builtin_popcountll(wave_mask(wave)));
    uint32_t region = next_region(wave);
    if (region == ~0u) return false;
    uint64_t lanes = lanes_at(wave, region);
    if (barrier(region).matrix) execute_matrix(wave, lanes, region);
    if (barrier(region).has_mask) check_mask(wave, lanes, region);
    area_->active[wave] = lanes;
    for (uint32_t i = begin; i < end; ++i) area_->values[i] = lanes >> (i - begin) & 1 ? area_->brought[i] : 0;
    run_lanes(wave, lanes, region);
    return true;
}

// The first barrier in program order at which lanes wait for the wavefront. Matrix instructions come last unless all
// lanes are there: the others may still be on their way.
uint32_t RegionRunner::next_region(uint32_t wave) const {
    uint32_t region = ~0u, incomplete = ~0u;
    for (uint64_t lanes = wave_mask(wave); lanes; lanes &= lanes - 1) {
        uint32_t next = area_->next[wave * kWavefront + uint32_t(__builtin_ctzll(lanes))];
        if (next == 0 || !barrier(next).is_wave) continue;
        uint32_t& first = barrier(next).matrix && ~lanes_at(wave, next) ? incomplete : region;
        if (next < first) first = next;
    }
    return region != ~0u ? region : incomplete;
}

void RegionRunner::execute_matrix(uint32_t wave, uint64_t lanes, uint32_t region) {
    if (lanes == ~0ull) return execute(barrier(region).matrix, area_->matrices[wave]);
    const uint32_t begin = wave * kWavefront, other = begin + uint32_t(__builtin_ctzll(~lanes));
    const uint32_t next = other < thread_count_ ? area_->next[other] : 0;
    fail_without_lane(*kernel_, index_, {begin + uint32_t(__builtin_ctzll(lanes)), barrier(region).line},
                      {other, next ? barrier(next).line : kNotThere});
}

void RegionRunner::release_alive() {
    area_->count = area_->arrived = 0;
    for (uint32_t wave = 0; wave < wave_count_; ++wave) check_barrier(wave);
    for (uint32_t i = 0; i < thread_count_; ++i)
        if (area_->next[i] != 0) {
            ++area_->arrived;
            area_->count += area_->brought[i] != 0;
        }
    for (uint32_t wave = 0; wave < wave_count_; ++wave) {
        // The barriers of one wavefront are on one line, but that line may be in the code several times.
        uint64_t waiting = wave_mask(wave) & ~lanes_at(wave, 0);
        while (waiting) {
            uint32_t region = area_->next[wave * kWavefront + uint32_t(__builtin_ctzll(waiting))];
            uint64_t lanes = lanes_at(wave, region) & waiting;
            waiting &= ~lanes;
            run_lanes(wave, lanes, region);
        }
    }
}

void RegionRunner::release_all(uint32_t region) {
    if (barrier(region).matrix) {
        for (uint32_t wave = 0; wave < wave_count_; ++wave) execute_matrix(wave, wave_mask(wave), region);
        return;
    }
    if (barrier(region).is_wave) {
        std::memcpy(area_->values, area_->brought, thread_count_ * sizeof(uint64_t));
        if (uint32_t rest = thread_count_ % kWavefront)
            std::memset(area_->values + thread_count_, 0, (kWavefront - rest) * sizeof(uint64_t));
        for (uint32_t wave = 0; wave < wave_count_; ++wave) area_->active[wave] = wave_mask(wave);
        return;
    }
    area_->arrived = int32_t(thread_count_);
    area_->count = 0;
    if (barrier(region).has_mask)  // of a barrier: it has a predicate
        for (uint32_t i = 0; i < thread_count_; ++i) area_->count += area_->brought[i] != 0;
}

// One call for each run of lanes that are neighbours in x.
void RegionRunner::run_lanes(uint32_t wave, uint64_t lanes, uint32_t region) {
    const uint32_t width = index_.block_dim_x;
    while (lanes) {
        uint32_t thread = wave * kWavefront + uint32_t(__builtin_ctzll(lanes));
        uint32_t x = thread % width, row = thread / width, length = 0;
        for (; lanes >> ((thread + length) % kWavefront) & 1; ++length) {
            lanes &= ~(1ull << ((thread + length) % kWavefront));
            if (x + length + 1 == width || (thread + length + 1) % kWavefront == 0) {
                ++length;
                break;
            }
        }
        uint32_t y = row % index_.block_dim_y, z = row / index_.block_dim_y;
        const ThreadBox box{x, x + length, y, y + 1, z, z + 1, side_};
        kernel_->regions(arguments_, &index_, context_.get(), area_.get(), region, &box);
    }
}

uint32_t RegionRunner::common_region() const {
    for (uint32_t i = 1; i < thread_count_; ++i)
        if (area_->next[i] != area_->next[0]) return ~0u;
    return area_->next[0];
}

uint64_t RegionRunner::lanes_at(uint32_t wave, uint32_t region) const {
    uint32_t begin = wave * kWavefront;
    uint64_t lanes = 0;
    for (uint32_t lane = 0; lane < kWavefront && begin + lane < thread_count_; ++lane)
        lanes |= uint64_t(area_->next[begin + lane] == region) << lane;
    return lanes;
}

uint64_t RegionRunner::wave_mask(uint32_t wave) const {
    uint32_t lanes = thread_count_ - wave * kWavefront;
    return lanes >= kWavefront ? ~0ull : (1ull << lanes) - 1;
}

void RegionRunner::check_mask(uint32_t wave, uint64_t group, uint32_t region) const {
    uint32_t begin = wave * kWavefront;
    for (uint32_t lane = 0; lane < kWavefront && begin + lane < thread_count_; ++lane) {
        uint32_t next = area_->next[begin + lane];
        if (next == 0 || barrier(next).is_wave) continue;
        // Lanes of one half name the same lanes; masks of 32 bits name those of their own half.
        uint64_t half = lane < 32 ? group & 0xffffffffu : group >> 32 << 32;
        uint32_t here = begin + uint32_t(__builtin_ctzll(half ? half : group));
        if (area_->masks[here] >> lane & 1)
            fail("deadlock between a cross-lane operation and __syncthreads", *kernel_, index_,
                 {here, barrier(region).line}, {begin + lane, barrier(next).line});
    }
}

void RegionRunner::check_barrier(uint32_t wave) const {
    uint32_t begin = wave * kWavefront, first = ~0u;
    for (uint32_t i = begin; i < begin + kWavefront && i < thread_count_; ++i) {
        if (area_->next[i] == 0) continue;
        if (first == ~0u) first = i;
        uint32_t a = barrier(area_->next[first]).line, b = barrier(area_->next[i]).line;
        if (a != b) fail("divergent __syncthreads within one wavefront", *kernel_, index_, {first, a}, {i, b});
    }
}

}  // namespace wavepool
