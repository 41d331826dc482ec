// The arguments of `solution`: each array lies in a device allocation of its own, between two guard bands.
#pragma once

#include <hip/hip_runtime.h>

#include <cstddef>

#include "protocol.hpp"

namespace wavepool {

// Whether it is made from what it is at first, in each link of a chain.
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
  // Copies every array with its guards from the shared memory, but of one that is made anew the guards alone.
  hipError_t copy_in(const unsigned char* memory);
  // Copies every array with its guards back, outputs first: what else could still be done to them is not waited for.
  hipError_t copy_out(unsigned char* memory) const;
  // The outputs alone, or all else.
  hipError_t copy_out(unsigned char* memory, bool outputs) const;
  // Some of the bytes alone.
  hipError_t copy_out(unsigned char* memory, const Range* ranges, std::uint64_t count) const;
  // From now on no thread can write to the outputs, on devices whose memory can be held so.
  hipError_t hold() const;
  // They can be written again; says whether something tried to meanwhile.
  bool release() const;
  // What `wavepool_call` takes.
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
    std::size_t bytes = 0;  // of the allocation: guards and the most shift included
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
