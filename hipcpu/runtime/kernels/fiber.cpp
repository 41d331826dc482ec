#include "fiber.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#if !defined(__x86_64__)
#error "the cpu device's stack switch is written for x86-64"
#endif

// The System V ABI keeps rbx, rbp and r12-r15 across a call; everything else is the caller's to save.
asm(R"(
.text
.globl wp_switch_stack
.type wp_switch_stack, @function
wp_switch_stack:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size wp_switch_stack, .-wp_switch_stack
)");

namespace wavepool {
namespace {
constexpr size_t kGuardBytes = 4096;
}  // namespace

StackPool::~StackPool() {
    for (void* stack : all_) munmap(stack, kStackBytes);
}

void* StackPool::take() {
    if (!free_.empty()) {
        void* stack = free_.back();
        free_.pop_back();
        return stack;
    }
    void* stack = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stack == MAP_FAILED || mprotect(stack, kGuardBytes, PROT_NONE) != 0) {
        std::fputs("wavepool: out of memory for the stacks of device threads\n", stderr);
        std::_Exit(1);
    }
    all_.push_back(stack);
    return stack;
}

void* prepare_stack(void* stack, void (*entry)()) {
    auto* top = reinterpret_cast<void**>(static_cast<char*>(stack) + kStackBytes);
    top -= 2;  // after `ret` the stack is 8 bytes off a multiple of 16, as at any function's entry
    top[0] = reinterpret_cast<void*>(entry);
    for (int saved_register = 0; saved_register < 6; ++saved_register) *--top = nullptr;
    return top;
}

}  // namespace wavepool
