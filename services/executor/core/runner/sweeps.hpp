// Empties the device's caches between calls, and measures whether that worked.
#pragma once

#include <hip/hip_runtime.h>

#include <cstdint>

namespace wavepool {

class Sweeps {
 public:
  // Reads, changes and writes back `bytes` bytes of memory, reads them once more, and empties the instruction caches.
  hipError_t flush(std::uint64_t bytes);
  // Times a second read of `probe_bytes`, after a flush of `flush_bytes` (none if 0) since the first.
  hipError_t probe(std::uint64_t flush_bytes, std::uint64_t probe_bytes, std::uint64_t& elapsed_ns);

 private:
  struct Area {
    std::uint64_t* words = nullptr;
    std::uint64_t bytes = 0;
  };

  static hipError_t fit(Area& area, std::uint64_t bytes);
  void read(const Area& area);

  Area flushed_;
  Area probed_;
  Area sums_;
  hipEvent_t start_{};
  hipEvent_t stop_{};
};

}  // namespace wavepool
