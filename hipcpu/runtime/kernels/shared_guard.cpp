#include "shared_guard.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "../calls/kernel_name.h"
#include "../calls/launch_limits.h"
#include "stopped.h"

namespace wavepool {
namespace {
// As far as an array of another size, or one array too many, reaches; setting and looking takes under a microsecond.
constexpr size_t kGuardBytes = 16 << 10;
constexpr unsigned char kUntouched = 0xff;
}  // namespace

SharedGuard::SharedGuard(const KernelEntry& kernel, size_t launched_bytes)
    : kernel_(kernel), launched_bytes_(launched_bytes) {
    if (!kernel.dynamic_shared) return;
    begin_ = kernel.dynamic_shared() + launched_bytes;
    bytes_ = std::min<size_t>(kGuardBytes, kSharedBytesPerBlock - launched_bytes);
    std::memset(begin_, kUntouched, bytes_);
}

void SharedGuard::look() const {
    unsigned char changed = 0;  // without an early end, so that it is a loop over vectors
    for (size_t at = 0; at < bytes_; ++at) changed |= begin_[at] ^ kUntouched;
    if (!changed) return;
    const unsigned char* first = std::find_if(begin_, begin_ + bytes_, [](auto byte) { return byte != kUntouched; });
    std::fflush(stdout);
    std::fprintf(stderr, "wavepool: overrun of shared memory in kernel %s: launched with %zu bytes, written at %zu\n",
                 name_in_source(kernel_), launched_bytes_, launched_bytes_ + size_t(first - begin_));
    std::_Exit(kStoppedExit);
}

}  // namespace wavepool
