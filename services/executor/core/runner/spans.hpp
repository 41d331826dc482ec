// The device's own clock around a call, as a second instrument beside events; and what a timed region begins with.
//
// Kernels of ours note the device's clock: before the call, behind it on the default stream, and once more when the
// whole device is idle. The first two bound the same work as the events do, so that both must agree; what lies between
// the last two is work on streams that the default stream does not wait for. Only a GPU has such a clock: elsewhere
// both spans are 0, which says that there is no second instrument.
#pragma once

#include <hip/hip_runtime.h>

#include <cstdint>

namespace wavepool {

struct DeviceSpans {
  std::uint64_t stream_ns;  // to the end of the default stream's work
  std::uint64_t device_ns;  // to the end of all work
};

class Spans {
 public:
  // Allocates what stamps need, if that was not done yet; `begin` does so too.
  hipError_t prepare();
  // Keeps the device busy for a moment, so that what is ordered meanwhile is there when it goes on; then notes the time.
  hipError_t begin();
  // The same, after `prepare`, for a whole chain of so many links, without noting the time.
  hipError_t hold_back(std::uint32_t links);
  // Notes the time behind all work of the default stream.
  hipError_t end();
  // Notes the time of a device that is idle, and reads all of them.
  hipError_t read(DeviceSpans& spans);

 private:
  std::uint64_t* ticks_ = nullptr;  // of the device's clock: begin, end, idle
  double ns_per_tick_ = 0.0;
};

// Makes the device forget the instructions that it has run, where it can be told to or has been shown enough others.
void forget_instructions();

}  // namespace wavepool

// What stands for the device's clock where there is none; the simulated device puts its own in this place.
extern "C" void wavepool_device_spans(wavepool::DeviceSpans* spans);
