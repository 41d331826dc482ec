// The limits of an MI300X compute unit that launches are held to.
#pragma once

#include <cstdint>

namespace wavepool {
constexpr uint32_t kMaxThreadsPerBlock = 1024;
constexpr uint32_t kSharedBytesPerBlock = 64 * 1024;
constexpr uint32_t kMaxGridDim = 0x7fffffff;
constexpr uint32_t kMaxGridDimYZ = 65535;
constexpr uint32_t kWavefront = 64;
}  // namespace wavepool
