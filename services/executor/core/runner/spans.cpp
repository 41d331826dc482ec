#include "spans.hpp"

#include "parallel.hpp"

#if defined(__HIP__) || defined(__CUDACC__)

namespace wavepool {

namespace {

// Longer than the host needs to order a call of a few kernels, but short beside a call that is worth timing.
constexpr double kDelayNs = 20e3;
// Longer than the host needs to order a link: some twenty kernels of ours, at about 5 us each, and the call. The empty
// chain has the same delay, so it is part of no time. If the host still holds up a chain, the chain proves nothing.
constexpr double kLinkDelayNs = 200e3;
constexpr int kStamps = 3;

__device__ std::uint64_t device_ticks() {
#if defined(__CUDACC__)
  std::uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
#else
  return wall_clock64();
#endif
}

// Ends by itself: a submission may wait for the device before it returns.
__global__ void delay(std::uint64_t ticks) {
  const std::uint64_t begin = device_ticks();
  while (device_ticks() - begin < ticks) {
  }
}

__global__ void stamp(std::uint64_t* ticks) { *ticks = device_ticks(); }

hipError_t length_of_a_tick(double& ns) {
#if defined(__CUDACC__)
  ns = 1.0;  // %globaltimer counts nanoseconds, in steps of up to 1 us: PTX ISA 8.5, "Special registers"
  return hipSuccess;
#else
  int khz = 0;
  const hipError_t status = hipDeviceGetAttribute(&khz, hipDeviceAttributeWallClockRate, 0);
  ns = khz > 0 ? 1e6 / khz : 10.0;
  return status;
#endif
}

// An MI300X has an instruction for this (CDNA3 ISA guide, S_ICACHE_INV). Other GPUs run more code than an instruction
// cache of 128 KiB holds: for sm_90, nvcc 13 makes a loop of 192 KiB from this.
__global__ void run_long_code(float* sink, float factor) {
#if defined(__CUDACC__)
  float value = factor;
#pragma unroll 16384
  for (int step = 0; step < 16384; ++step) value = value * factor + static_cast<float>(step);
  if (value == 1.0F) *sink = value;
#else
  asm volatile("s_icache_inv");
#endif
}

}  // namespace

hipError_t Spans::prepare() {
  if (ticks_ != nullptr) return hipSuccess;
  void* address = nullptr;
  if (const hipError_t status = length_of_a_tick(ns_per_tick_); status != hipSuccess) return status;
  if (const hipError_t status = hipMalloc(&address, kStamps * sizeof(std::uint64_t)); status != hipSuccess) return status;
  ticks_ = static_cast<std::uint64_t*>(address);
  stamp<<<1, 1>>>(ticks_);  // so that no timed call is the first to load it
  return hipDeviceSynchronize();
}

hipError_t Spans::begin() {
  if (const hipError_t status = prepare(); status != hipSuccess) return status;
  delay<<<1, 1>>>(static_cast<std::uint64_t>(kDelayNs / ns_per_tick_));
  stamp<<<1, 1>>>(ticks_);
  return hipSuccess;
}

hipError_t Spans::hold_back(std::uint32_t links) {
  delay<<<1, 1>>>(static_cast<std::uint64_t>(links * kLinkDelayNs / ns_per_tick_));
  return hipGetLastError();
}

hipError_t Spans::end() {
  stamp<<<1, 1>>>(ticks_ + 1);
  return hipSuccess;
}

hipError_t Spans::read(DeviceSpans& spans) {
  stamp<<<1, 1>>>(ticks_ + 2);
  std::uint64_t ticks[kStamps] = {};
  const hipError_t status = hipMemcpy(ticks, ticks_, sizeof ticks, hipMemcpyDeviceToHost);
  spans.stream_ns = static_cast<std::uint64_t>(static_cast<double>(ticks[1] - ticks[0]) * ns_per_tick_);
  spans.device_ns = static_cast<std::uint64_t>(static_cast<double>(ticks[2] - ticks[0]) * ns_per_tick_);
  return status;
}

void forget_instructions() {
  constexpr unsigned kBlocks = 2048;  // several for each compute unit of any GPU, so that every unit gets some
  run_long_code<<<kBlocks, 64>>>(nullptr, 0.5F);
}

}  // namespace wavepool

#else

namespace wavepool {

hipError_t Spans::prepare() { return hipSuccess; }

hipError_t Spans::begin() { return hipSuccess; }

hipError_t Spans::hold_back(std::uint32_t) { return hipSuccess; }

hipError_t Spans::end() { return hipSuccess; }

hipError_t Spans::read(DeviceSpans& spans) {
  wavepool_device_spans(&spans);
  return hipSuccess;
}

// We cannot empty a processor's instruction cache; its times rank nowhere.
void forget_instructions() {}

}  // namespace wavepool

#endif
