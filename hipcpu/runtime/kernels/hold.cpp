// A call has ended when `solution` has returned and the device is idle. Threads, timers and signal handlers that go on
// may write to its outputs while they are copied, so their pages are made read-only for that time.
#include "hold.h"

#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace wavepool {
namespace {
constexpr size_t kMostRanges = 64;
constexpr long kWaitNs = 50'000;

struct Range {
    uintptr_t begin;
    uintptr_t end;
    bool protect(int how) const { return mprotect(reinterpret_cast<void*>(begin), end - begin, how) == 0; }
};

Range ranges[kMostRanges];
std::atomic<size_t> count{0};
std::atomic<bool> holding{false};
std::atomic<bool> late{false};
pid_t holder = 0;
struct sigaction theirs;
thread_local uintptr_t tried_again = 0;

const Range* range_of(uintptr_t address) {
    for (size_t at = 0; at < count; ++at)
        if (ranges[at].begin <= address && address < ranges[at].end) return &ranges[at];
    return nullptr;
}

void begin_hold() {
    holder = gettid();
    late = false;
    count = 0;
    // A handler of the submission's could compute what is only now looked at.
    const struct sigaction ours = fault_action();
    sigaction(SIGSEGV, &ours, &theirs);
    holding = true;
}
}  // namespace

bool held_write(const siginfo_t& fault) {
    const auto address = reinterpret_cast<uintptr_t>(fault.si_addr);
    const Range* range = fault.si_code == SEGV_ACCERR ? range_of(address) : nullptr;
    if (range == nullptr) return false;
    if (!holding) {
        // The hold ended on the way here. A page that still cannot be written was not ours.
        const bool first = tried_again != address;
        tried_again = address;
        return first;
    }
    late = true;
    // A handler that interrupted the thread which is to end the hold cannot wait for that.
    if (gettid() == holder) return range->protect(PROT_READ | PROT_WRITE);
    const timespec wait{0, kWaitNs};
    while (holding) nanosleep(&wait, nullptr);
    return true;
}
}  // namespace wavepool

using namespace wavepool;

bool __wp_hold(void* begin, size_t bytes) {
    if (!holding) begin_hold();
    const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto first = reinterpret_cast<uintptr_t>(begin);
    const Range range{(first + page - 1) / page * page, (first + bytes) / page * page};
    if (range.begin >= range.end) return true;
    if (count == kMostRanges) return false;
    ranges[count] = range;
    ++count;
    return range.protect(PROT_READ);
}

bool __wp_release() {
    if (!holding) return false;
    for (size_t at = 0; at < count; ++at) ranges[at].protect(PROT_READ | PROT_WRITE);
    holding = false;
    sigaction(SIGSEGV, &theirs, nullptr);
    return late;
}
