// Runs a small function object for every index: as a kernel if a GPU's compiler reads this, else as a plain loop.
#pragma once

#include <hip/hip_runtime.h>

#include <cstdint>

#include "chain_arithmetic.hpp"

namespace wavepool {

#if defined(__HIP__) || defined(__CUDACC__)

template <typename Body>
__global__ void run_body(Body body, std::uint64_t count) {
  const std::uint64_t stride = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
  for (std::uint64_t at = blockIdx.x * static_cast<std::uint64_t>(blockDim.x) + threadIdx.x; at < count; at += stride) {
    body(at);
  }
}

// Asynchronous; hipGetLastError reports a failed launch.
template <typename Body>
void for_each_index(std::uint64_t count, const Body& body, hipStream_t stream = nullptr) {
  constexpr unsigned kThreads = 256;
  constexpr std::uint64_t kMostBlocks = 1u << 20;
  if (count == 0) return;
  const std::uint64_t wanted = (count + kThreads - 1) / kThreads;
  const auto blocks = static_cast<unsigned>(wanted < kMostBlocks ? wanted : kMostBlocks);
  run_body<<<blocks, kThreads, 0, stream>>>(body, count);
}

#else

template <typename Body>
void for_each_index(std::uint64_t count, const Body& body, hipStream_t = nullptr) {
  for (std::uint64_t at = 0; at < count; ++at) body(at);
}

#endif

}  // namespace wavepool
