// Faults of memory: those that wait for a hold to end, and a vector at an address that is not a multiple of its size.
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

#include "hold.h"
#include "../sanitizer/sanitizer.h"
#include "stopped.h"

namespace wavepool {
namespace {
constexpr char kSaid[] = "wavepool: misaligned vector access\n";

bool moves_aligned(unsigned char opcode, bool has_66) {
    if (opcode == 0x28 || opcode == 0x29 || opcode == 0x2b) return true;          // movaps, movapd, movntps
    return has_66 && (opcode == 0x6f || opcode == 0x7f || opcode == 0xe7);        // movdqa, movntdq
}

// Whether the instruction is a move that faults at an unaligned address.
bool is_aligned_move(const unsigned char* code) {
    bool has_66 = false;
    for (;; ++code) {
        if (*code == 0x66) has_66 = true;
        else if (*code != 0x64 && *code != 0x65 && (*code & 0xf0) != 0x40) break;  // segments and REX
    }
    if (code[0] == 0x0f) return moves_aligned(code[1], has_66);
    if (code[0] == 0xc5) return moves_aligned(code[2], (code[1] & 3) == 1);
    if (code[0] == 0xc4) return (code[1] & 31) == 1 && moves_aligned(code[3], (code[2] & 3) == 1);
    if (code[0] == 0x62) return (code[1] & 7) == 1 && moves_aligned(code[4], (code[2] & 3) == 1);
    return false;
}

// An address that no process can have raises the same fault; it may be in any of the registers.
bool has_wild_address(const gregset_t& registers) {
    for (int at = REG_R8; at <= REG_RSP; ++at) {
        const int64_t top = int64_t(registers[at]) >> 47;
        if (top != 0 && top != -1) return true;
    }
    return false;
}

void on_fault(int number, siginfo_t* info, void* context) {
    if (held_write(*info)) return;
    const gregset_t& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    const bool is_general = info->si_code == SI_KERNEL && info->si_addr == nullptr;
    if (is_general && !sanitizing() && !has_wild_address(registers) &&
        is_aligned_move(reinterpret_cast<const unsigned char*>(registers[REG_RIP]))) {
        (void)!write(STDERR_FILENO, kSaid, std::strlen(kSaid));
        _exit(kStoppedExit);
    }
    // It faults again, and ends the process.
    signal(number, SIG_DFL);
}

__attribute__((constructor)) void watch_for_faults() {
    const struct sigaction action = fault_action();
    sigaction(SIGSEGV, &action, nullptr);
}
}  // namespace

struct sigaction fault_action() {
    struct sigaction action = {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO;
    return action;
}
}  // namespace wavepool
