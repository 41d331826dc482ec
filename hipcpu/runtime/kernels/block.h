// Runs the threads of one block of a kernel in thread form, each on a stack of its own.
#pragma once

#include <memory>

#include "fiber.h"
#include "kernel_table.h"
#include "../calls/launch_limits.h"
#include "../matrix/matrix.h"

namespace wavepool {

// What a waiting thread brought to the place where it waits.
struct Barrier {
    uint64_t value;
    uint64_t mask;
    const void* site;
    int line;
    MatrixInstruction matrix = kNoMatrixInstruction;
};

enum class ThreadState : uint8_t { kFresh, kRunnable, kAtBlock, kAtWave, kDone };

struct DeviceThread {
    ThreadState state;
    void* stack;
    void* stack_pointer;
    uint32_t x, y, z;
    Barrier barrier;
};

struct Wave {
    uint64_t active;
    uint64_t values[kWavefront];
};

class BlockRunner {
public:
    BlockRunner();
    // Runs one block to its end; `index` names the block. Ends the process where threads wait for each other forever.
    void run(const KernelEntry& kernel, void** arguments, const BlockIndex& index);

    // Called on a device thread's stack: wait for the other threads.
    void wait_at_block(const Barrier& barrier) { wait(ThreadState::kAtBlock, barrier); }
    void wait_at_wave(const Barrier& barrier) { wait(ThreadState::kAtWave, barrier); }

    // The thread that runs now, and the results of its last barrier.
    const BlockIndex& index() const { return index_; }
    uint32_t thread() const { return current_; }
    bool on_stack(const void* address) const;
    const Wave& wave() const { return waves_[current_ / kWavefront]; }
    MatrixRegisters& matrix() const { return matrices_[current_ / kWavefront]; }
    int block_count() const { return block_count_; }
    int block_arrived() const { return block_arrived_; }

private:
    static void fiber_entry();
    void run_threads();
    void start(uint32_t thread);
    void resume(uint32_t thread);
    void wait(ThreadState state, const Barrier& barrier);
    bool release_waves();
    bool release_wave(uint32_t first);
    const Barrier* next_of_wave(uint32_t first, uint32_t end) const;
    uint64_t lanes_at(const Barrier& barrier, uint32_t first, uint32_t end) const;
    void execute_matrix(const Barrier& barrier, uint64_t lanes, uint32_t first);
    void release_block();
    void check_mask(const Barrier& barrier, uint32_t first, uint32_t end) const;
    void check_barrier(uint32_t first, uint32_t end) const;
    void select(uint32_t thread);

    const KernelEntry* kernel_ = nullptr;
    void** arguments_ = nullptr;
    BlockIndex index_{};
    uint32_t thread_count_ = 0;
    uint32_t current_ = 0;
    uint32_t alive_ = 0;
    int block_count_ = 0;
    int block_arrived_ = 0;
    void* scheduler_ = nullptr;
    StackPool stacks_;
    std::unique_ptr<DeviceThread[]> threads_;
    std::unique_ptr<Wave[]> waves_;
    std::unique_ptr<MatrixRegisters[]> matrices_;
};

// The runner of the calling worker.
BlockRunner& block_runner();

}  // namespace wavepool
