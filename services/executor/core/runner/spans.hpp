// The device's own clock around a call, as a second instrument beside events; and the delay before a timed region.
//
// Kernels of ours note the device's clock: before the call, after it on the default stream, and once more when the
// whole device is idle. The first two enclose the same work as the events, so both must agree; the time between the
// last two is work on streams that the default stream does not wait for. Only a GPU has such a clock: elsewhere both
// spans are 0, which says that there is no second instrument.
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
  // Allocates the memory for stamps if that was not done yet; `begin` does so too.
  hipError_t prepare();
  // Keeps the device busy for a moment, so that the next orders are there when it continues; then notes the time.
  hipError_t begin();
  // After `prepare`: keeps the device busy for a chain of so many links, without noting the time.
  hipError_t hold_back(std::uint32_t links);
  // Notes the time after all work of the default stream.
  hipError_t end();
  // Notes the time of the idle device, and reads all noted times.
  hipError_t read(DeviceSpans& spans);

 private:
  std::uint64_t* ticks_ = nullptr;  // by the device's clock: begin, end, idle
  double ns_per_tick_ = 0.0;
};

// Empties the device's instruction caches: by an instruction for that, or by running enough other code.
void forget_instructions();

}  // namespace wavepool

// Stands for the device's clock if there is none; the simulated device replaces it by its own.
extern "C" void wavepool_device_spans(wavepool::DeviceSpans* spans);
