// Theory of operation: threads of a block run one after another on the worker. Each runs on a stack of its own until it
// ends, which frees the stack for the next one, or until it waits at a barrier or a cross-lane operation. When every
// thread that is left waits, each wavefront lets one group of its lanes go on: those that wait at the cross-lane
// operation with the lowest address, which is where a GPU that runs the branches of a divergent wavefront one after
// another would be. Only when no lane waits for its wavefront does the barrier open, for all threads that are left:
// threads that have ended do not count, as on AMD hardware.
#include "block.h"

#include "divergence.h"
#include "../sanitizer/sanitizer.h"

namespace wavepool {

BlockRunner& block_runner() {
    static thread_local BlockRunner runner;
    return runner;
}

BlockRunner::BlockRunner()
    : threads_(new DeviceThread[kMaxThreadsPerBlock]),
      waves_(new Wave[kMaxThreadsPerBlock / kWavefront]),
      matrices_(new MatrixRegisters[kMaxThreadsPerBlock / kWavefront]) {}

void BlockRunner::run(const KernelEntry& kernel, void** arguments, const BlockIndex& index) {
    kernel_ = &kernel;
    arguments_ = arguments;
    index_ = index;
    if (sanitizing()) sanitizer::block_begins(index);
    thread_count_ = alive_ = index.block_dim_x * index.block_dim_y * index.block_dim_z;
    uint32_t thread = 0;
    for (uint32_t z = 0; z < index.block_dim_z; ++z)
        for (uint32_t y = 0; y < index.block_dim_y; ++y)
            for (uint32_t x = 0; x < index.block_dim_x; ++x, ++thread) {
                threads_[thread].state = ThreadState::kFresh;
                threads_[thread].x = x, threads_[thread].y = y, threads_[thread].z = z;
            }
    run_threads();
    while (alive_ > 0) {
        if (!release_waves()) release_block();
        run_threads();
    }
}

void BlockRunner::run_threads() {
    for (uint32_t thread = 0; thread < thread_count_; ++thread) {
        if (threads_[thread].state == ThreadState::kFresh) start(thread);
        else if (threads_[thread].state == ThreadState::kRunnable) resume(thread);
    }
}

void BlockRunner::select(uint32_t thread) {
    current_ = thread;
    index_.thread_x = threads_[thread].x;
    index_.thread_y = threads_[thread].y;
    index_.thread_z = threads_[thread].z;
    index_.lane = thread % kWavefront;
}

bool BlockRunner::on_stack(const void* address) const {
    const char* stack = static_cast<const char*>(threads_[current_].stack);
    return address >= stack && address < stack + kStackBytes;
}

void BlockRunner::start(uint32_t thread) {
    threads_[thread].stack = stacks_.take();
    threads_[thread].stack_pointer = prepare_stack(threads_[thread].stack, fiber_entry);
    resume(thread);
}

void BlockRunner::resume(uint32_t thread) {
    select(thread);
    threads_[thread].state = ThreadState::kRunnable;
    wp_switch_stack(&scheduler_, threads_[thread].stack_pointer);
    if (threads_[thread].state == ThreadState::kDone) {
        stacks_.give(threads_[thread].stack);
        --alive_;
    }
}

void BlockRunner::fiber_entry() {
    BlockRunner& self = block_runner();
    self.kernel_->run(self.arguments_, &self.index_);
    DeviceThread& thread = self.threads_[self.current_];
    thread.state = ThreadState::kDone;
    wp_switch_stack(&thread.stack_pointer, self.scheduler_);
    __builtin_unreachable();
}

void BlockRunner::wait(ThreadState state, const Barrier& barrier) {
    DeviceThread& thread = threads_[current_];
    thread.state = state;
    thread.barrier = barrier;
    wp_switch_stack(&thread.stack_pointer, scheduler_);
}

bool BlockRunner::release_waves() {
    bool released = false;
    for (uint32_t first = 0; first < thread_count_; first += kWavefront) released |= release_wave(first);
    return released;
}

bool BlockRunner::release_wave(uint32_t first) {
    uint32_t end = first + kWavefront < thread_count_ ? first + kWavefront : thread_count_;
    const Barrier* next = next_of_wave(first, end);
    if (!next) return false;
    if (sanitizing()) sanitizer::wave_met(first / kWavefront);
    check_mask(*next, first, end);
    Wave& wave = waves_[first / kWavefront];
    wave = {};
    wave.active = lanes_at(*next, first, end);
    if (next->matrix) execute_matrix(*next, wave.active, first);
    for (uint32_t i = first; i < end; ++i)
        if (wave.active >> (i - first) & 1) {
            wave.values[i - first] = threads_[i].barrier.value;
            threads_[i].state = ThreadState::kRunnable;
        }
    return true;
}

// Matrix instructions come last unless all lanes are there: the others may still be on their way.
const Barrier* BlockRunner::next_of_wave(uint32_t first, uint32_t end) const {
    const Barrier *lowest = nullptr, *incomplete = nullptr;
    for (uint32_t i = first; i < end; ++i) {
        if (threads_[i].state != ThreadState::kAtWave) continue;
        const Barrier& barrier = threads_[i].barrier;
        const Barrier*& found = barrier.matrix && ~lanes_at(barrier, first, end) ? incomplete : lowest;
        if (!found || barrier.site < found->site) found = &barrier;
    }
    return lowest ? lowest : incomplete;
}

uint64_t BlockRunner::lanes_at(const Barrier& barrier, uint32_t first, uint32_t end) const {
    uint64_t lanes = 0;
    for (uint32_t i = first; i < end; ++i) {
        const DeviceThread& thread = threads_[i];
        if (thread.state == ThreadState::kAtWave && thread.barrier.site == barrier.site) lanes |= 1ull << (i - first);
    }
    return lanes;
}

void BlockRunner::execute_matrix(const Barrier& barrier, uint64_t lanes, uint32_t first) {
    if (lanes == ~0ull) return execute(barrier.matrix, matrices_[first / kWavefront]);
    const uint32_t other = first + uint32_t(__builtin_ctzll(~lanes));
    const bool waits = other < thread_count_ && threads_[other].state != ThreadState::kDone;
    fail_without_lane(*kernel_, index_, {first + uint32_t(__builtin_ctzll(lanes)), uint32_t(barrier.line)},
                      {other, waits ? uint32_t(threads_[other].barrier.line) : kNotThere});
}

void BlockRunner::release_block() {
    if (sanitizing()) sanitizer::block_met();
    block_count_ = block_arrived_ = 0;
    for (uint32_t first = 0; first < thread_count_; first += kWavefront)
        check_barrier(first, first + kWavefront < thread_count_ ? first + kWavefront : thread_count_);
    for (uint32_t i = 0; i < thread_count_; ++i)
        if (threads_[i].state == ThreadState::kAtBlock) {
            ++block_arrived_;
            block_count_ += threads_[i].barrier.value != 0;
            threads_[i].state = ThreadState::kRunnable;
        }
}

void BlockRunner::check_mask(const Barrier& barrier, uint32_t first, uint32_t end) const {
    uint32_t here = first;
    while (&threads_[here].barrier != &barrier) ++here;
    for (uint32_t i = first; i < end; ++i)
        if ((barrier.mask >> (i - first) & 1) && threads_[i].state == ThreadState::kAtBlock)
            fail("deadlock between a cross-lane operation and __syncthreads", *kernel_, index_,
                 {here, uint32_t(barrier.line)}, {i, uint32_t(threads_[i].barrier.line)});
}

void BlockRunner::check_barrier(uint32_t first, uint32_t end) const {
    const DeviceThread* one = nullptr;
    for (uint32_t i = first; i < end; ++i) {
        if (threads_[i].state != ThreadState::kAtBlock) continue;
        if (!one) one = &threads_[i];
        if (threads_[i].barrier.line != one->barrier.line)
            fail("divergent __syncthreads within one wavefront", *kernel_, index_,
                 {uint32_t(one - &threads_[0]), uint32_t(one->barrier.line)}, {i, uint32_t(threads_[i].barrier.line)});
    }
}

}  // namespace wavepool
