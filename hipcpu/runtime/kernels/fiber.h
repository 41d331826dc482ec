// Stacks that a worker switches between, for device threads that wait for each other.
#pragma once

#include <cstddef>
#include <vector>

namespace wavepool {

constexpr size_t kStackBytes = 256 * 1024;

// Saves the caller's registers and stack pointer to `*save` and continues where `load` was saved.
extern "C" void wp_switch_stack(void** save, void* load);

class StackPool {
public:
    ~StackPool();
    // A stack of kStackBytes with a guard page below it; ends the process with a message when memory is gone.
    void* take();
    void give(void* stack) { free_.push_back(stack); }

private:
    std::vector<void*> free_, all_;
};

// The stack pointer of a fresh fiber that enters `entry()` on `stack`; `entry` never returns.
void* prepare_stack(void* stack, void (*entry)());

}  // namespace wavepool
