// The arguments of `solution`: each array lies in a device allocation of its own, between two guard bands.
#pragma once

#include <hip/hip_runtime.h>

#include <cstddef>

#include "protocol.hpp"

namespace wavepool {

class Buffers {
 public:
  // Makes the allocations fit the plan; those that fit already are kept.
  hipError_t allocate(const Plan& plan);
  // Copies every array with its guards, and every scalar, from the shared memory.
  hipError_t copy_in(const unsigned char* memory);
  // Copies every array with its guards back.
  hipError_t copy_out(unsigned char* memory) const;
  // What `wavepool_call` takes.
  void** arguments() { return pointers_; }

 private:
  struct Buffer {
    Kind kind = Kind::kScalar;
    std::size_t offset = 0;
    std::size_t bytes = 0;  // guards included
    unsigned char* address = nullptr;
    alignas(16) unsigned char value[16] = {};
  };

  static hipError_t fit(Buffer& buffer, Kind kind, std::size_t bytes);
  static hipError_t release(Buffer& buffer);

  std::uint32_t count_ = 0;
  Buffer buffers_[kMostArguments];
  void* pointers_[kMostArguments] = {};
};

}  // namespace wavepool
