// The arguments of `solution`: each array is in its own device allocation, between two guard bands.
#pragma once

#include <hip/hip_runtime.h>

#include <cstddef>

#include "protocol.hpp"

namespace wavepool {

// True if each link of a chain makes the argument from its first value.
inline bool has_base(const Argument& argument) {
  switch (argument.rule) {
    case Rule::kCopy:
    case Rule::kFlipBits:
    case Rule::kRoll:
    case Rule::kSymmetricBits:
    case Rule::kWeights: return argument.kind != Kind::kScalar;
    default: return false;
  }
}

class Buffers {
 public:
  // Makes the allocations fit the plan; those that fit already are kept.
  hipError_t allocate(const Plan& plan);
  // Copies every array with its guards from the shared memory; of an array that is made anew only the guards.
  hipError_t copy_in(const unsigned char* memory);
  // Copies every array with its guards back, outputs first, so that nothing gets more time to change them.
  hipError_t copy_out(unsigned char* memory) const;
  // Copies only the outputs, or only the other arrays.
  hipError_t copy_out(unsigned char* memory, bool outputs) const;
  // Copies only some ranges of bytes.
  hipError_t copy_out(unsigned char* memory, const Range* ranges, std::uint64_t count) const;
  // Lets no thread write to the outputs from now on, on devices that can protect memory.
  hipError_t hold() const;
  // Allows writes again; true if something tried to write in the meantime.
  bool release() const;
  // The argument list for `wavepool_call`.
  void** arguments() { return pointers_; }

  std::uint32_t count() const { return count_; }
  const Argument& argument(std::uint32_t at) const { return buffers_[at].argument; }
  std::size_t guard_bytes() const { return guard_bytes_; }
  // An array with its guards, and without.
  unsigned char* region(std::uint32_t at) const { return buffers_[at].address + shift_bytes_; }
  unsigned char* data(std::uint32_t at) const { return region(at) + guard_bytes_; }
  std::size_t region_bytes(std::uint32_t at) const { return argument(at).data_bytes + 2 * guard_bytes_; }

 private:
  struct Buffer {
    Argument argument{};
    std::size_t bytes = 0;  // size of the allocation, with guards and the largest shift
    Kind kind = Kind::kScalar;
    unsigned char* address = nullptr;
    alignas(16) unsigned char value[16] = {};
  };

  hipError_t copy_in(const unsigned char* from, std::uint32_t at) const;
  static hipError_t fit(Buffer& buffer, Kind kind, std::size_t bytes);
  static hipError_t free(Buffer& buffer);

  std::uint32_t count_ = 0;
  std::size_t guard_bytes_ = 0;
  std::size_t shift_bytes_ = 0;
  Buffer buffers_[kMostArguments];
  void* pointers_[kMostArguments] = {};
};

}  // namespace wavepool
