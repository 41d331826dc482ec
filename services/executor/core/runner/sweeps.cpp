#include "sweeps.hpp"

#include "parallel.hpp"
#include "spans.hpp"

namespace wavepool {

namespace {

// Enough to fill a GPU. On a processor readers follow one another, so there are few with a long way each.
#if defined(__HIP__) || defined(__CUDACC__)
constexpr std::uint64_t kReaders = 1u << 16;
#else
constexpr std::uint64_t kReaders = 1u << 6;
#endif

struct Change {
  std::uint64_t* words;
  WAVEPOOL_BOTH void operator()(std::uint64_t at) const { words[at] = words[at] * 3 + at; }
};

// A reader's share is strided on a GPU, and contiguous on a processor, where readers follow one another.
struct Read {
  const std::uint64_t* words;
  std::uint64_t count;
  std::uint64_t* sums;
  WAVEPOOL_BOTH void operator()(std::uint64_t reader) const {
    std::uint64_t sum = 0;
#if defined(__HIP__) || defined(__CUDACC__)
    for (std::uint64_t at = reader; at < count; at += kReaders) sum += words[at];
#else
    const std::uint64_t end = count * (reader + 1) / kReaders;
    for (std::uint64_t at = count * reader / kReaders; at < end; ++at) sum += words[at];
#endif
    sums[reader] = sum;
  }
};

}  // namespace

hipError_t Sweeps::fit(Area& area, std::uint64_t bytes) {
  if (area.bytes == bytes) return hipSuccess;
  if (const hipError_t status = hipFree(area.words); status != hipSuccess) return status;
  area = {};
  void* address = nullptr;
  if (const hipError_t status = hipMalloc(&address, bytes); status != hipSuccess) return status;
  area = {static_cast<std::uint64_t*>(address), bytes};
  return hipMemset(address, 1, bytes);
}

void Sweeps::read(const Area& area) { for_each_index(kReaders, Read{area.words, area.bytes / 8, sums_.words}); }

hipError_t Sweeps::flush(std::uint64_t bytes) {
  if (const hipError_t status = fit(flushed_, bytes); status != hipSuccess) return status;
  if (const hipError_t status = fit(sums_, kReaders * sizeof(std::uint64_t)); status != hipSuccess) return status;
  for_each_index(bytes / 8, Change{flushed_.words});
  read(flushed_);
  forget_instructions();
  return hipDeviceSynchronize();
}

hipError_t Sweeps::probe(std::uint64_t flush_bytes, std::uint64_t probe_bytes, std::uint64_t& elapsed_ns) {
  if (start_ == nullptr) {
    if (const hipError_t status = hipEventCreate(&start_); status != hipSuccess) return status;
    if (const hipError_t status = hipEventCreate(&stop_); status != hipSuccess) return status;
  }
  if (const hipError_t status = fit(probed_, probe_bytes); status != hipSuccess) return status;
  if (const hipError_t status = fit(sums_, kReaders * sizeof(std::uint64_t)); status != hipSuccess) return status;
  read(probed_);
  if (flush_bytes != 0) {
    if (const hipError_t status = flush(flush_bytes); status != hipSuccess) return status;
  }
  if (const hipError_t status = hipEventRecord(start_, nullptr); status != hipSuccess) return status;
  read(probed_);
  if (const hipError_t status = hipEventRecord(stop_, nullptr); status != hipSuccess) return status;
  if (const hipError_t status = hipDeviceSynchronize(); status != hipSuccess) return status;
  float elapsed_ms = 0.0F;
  const hipError_t status = hipEventElapsedTime(&elapsed_ms, start_, stop_);
  elapsed_ns = static_cast<std::uint64_t>(static_cast<double>(elapsed_ms) * 1e6);
  return status;
}

}  // namespace wavepool
