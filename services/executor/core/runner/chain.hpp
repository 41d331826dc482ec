// A chain of calls in which each input follows from the outputs before it: the runner's part of the chained audit.
// Everything between the calls runs on the device, so that nothing waits for the host. See docs/protocols.md.
#pragma once

#include <hip/hip_runtime.h>

#include "buffers.hpp"
#include "chain_bodies.hpp"

namespace wavepool {

constexpr std::uint32_t kMostLinks = 256;
constexpr std::uint64_t kMostExcerpt = 2048;

class Chain {
 public:
  explicit Chain(Buffers& buffers) : buffers_(buffers) {}
  Chain(const Chain&) = delete;
  Chain& operator=(const Chain&) = delete;

  // Allocates and touches all memory that `links` calls with the loaded arguments need.
  hipError_t prepare(std::uint32_t links);
  // Makes the calls and waits for the device; `launched` is the first error of a call itself.
  hipError_t run(std::uint64_t nonce, void (*call)(void**), hipError_t& launched);
  // Writes the results of `run`: a record for each link.
  hipError_t tell(LinkRecord* records) const;
  // Copies the outputs of one link to the judge; with those of the last link, also everything else.
  hipError_t fetch(std::uint32_t link, unsigned char* memory) const;
  // Draws new values for the loaded inputs in place, and poisons the outputs: the arguments of a call outside a chain.
  hipError_t redraw(std::uint64_t key, std::uint64_t poison_key);
  // Digests the outputs of such a call in the way of a chain's link with this key.
  hipError_t digest(std::uint64_t key, chain::Digest& digest);
  // Replaces places in `slots` by the elements there: `elements` of each such output, one output after the other.
  hipError_t excerpt(std::uint64_t elements, std::uint64_t* slots);
  // Frees what `prepare` allocated.
  void release();
  std::uint32_t links() const { return links_; }
  // True if `redraw` has drawn the loaded inputs.
  bool is_redrawn() const { return owned_count_ > 0 && links_ == 0; }

 private:
  hipError_t prepare_argument(std::uint32_t at);
  hipError_t prepare_records();
  hipError_t prepare_events();
  hipError_t allocate(void** address, std::size_t bytes);
  void make_arguments(std::uint32_t link);
  void hash_outputs(std::uint32_t link, std::uint64_t nonce);
  void hash(const unsigned char* data, std::uint64_t bytes, std::uint32_t argument, std::uint32_t link);
  unsigned char* slot(std::uint32_t at, std::uint32_t link) const { return slots_[at] + link * strides_[at]; }
  const unsigned char* output(std::uint32_t at, std::uint32_t link) const {
    return links_ == 0 ? buffers_.data(at) : slot(at, link) + buffers_.guard_bytes();
  }

  Buffers& buffers_;
  std::uint32_t links_ = 0;
  std::uint32_t events_ = 0;
  std::uint32_t owned_count_ = 0;
  void* owned_[2 * kMostArguments + 5] = {};
  unsigned char* bases_[kMostArguments] = {};
  unsigned char* slots_[kMostArguments] = {};
  std::size_t strides_[kMostArguments] = {};
  void* pointers_[kMostArguments] = {};
  std::uint64_t* keys_ = nullptr;
  chain::Digest* digests_ = nullptr;
  std::uint64_t* states_[2] = {};
  std::uint64_t* excerpt_ = nullptr;
  hipEvent_t starts_[kMostLinks] = {};
  hipEvent_t stops_[kMostLinks] = {};
};

}  // namespace wavepool
