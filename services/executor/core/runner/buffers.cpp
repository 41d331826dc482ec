#include "buffers.hpp"

#include <string.h>

// Only the cpu device has these (its runtime/kernels/hold.cpp), as its memory is the process's own.
extern "C" __attribute__((weak)) bool __wp_hold(void* begin, std::size_t bytes);
extern "C" __attribute__((weak)) bool __wp_release();

namespace wavepool {

hipError_t Buffers::free(Buffer& buffer) {
  if (buffer.address == nullptr) return hipSuccess;
  const hipError_t status = buffer.kind == Kind::kHostReadableArray ? hipHostFree(buffer.address) : hipFree(buffer.address);
  buffer.address = nullptr;
  buffer.bytes = 0;
  return status;
}

hipError_t Buffers::fit(Buffer& buffer, Kind kind, std::size_t bytes) {
  if (buffer.address != nullptr && buffer.kind == kind && buffer.bytes == bytes) return hipSuccess;
  if (const hipError_t status = free(buffer); status != hipSuccess) return status;
  buffer.kind = kind;
  if (kind == Kind::kScalar) return hipSuccess;
  void* address = nullptr;
  // Memory of hipHostMalloc has one address for host and device code.
  const hipError_t status =
      kind == Kind::kHostReadableArray ? hipHostMalloc(&address, bytes, hipHostMallocDefault) : hipMalloc(&address, bytes);
  if (status != hipSuccess) return status;
  buffer.address = static_cast<unsigned char*>(address);
  buffer.bytes = bytes;
  return hipSuccess;
}

hipError_t Buffers::allocate(const Plan& plan) {
  for (std::uint32_t at = plan.argument_count; at < count_; ++at) {
    if (const hipError_t status = free(buffers_[at]); status != hipSuccess) return status;
  }
  count_ = plan.argument_count;
  guard_bytes_ = plan.guard_bytes;
  shift_bytes_ = plan.shift_bytes;
  for (std::uint32_t at = 0; at < count_; ++at) {
    const Argument& argument = plan.arguments[at];
    Buffer& buffer = buffers_[at];
    const std::size_t bytes = argument.data_bytes + 2 * guard_bytes_ + kMostShiftBytes;
    if (const hipError_t status = fit(buffer, argument.kind, bytes); status != hipSuccess) return status;
    buffer.argument = argument;
    memcpy(buffer.value, argument.value, sizeof buffer.value);
    pointers_[at] = argument.kind == Kind::kScalar ? static_cast<void*>(buffer.value) : data(at);
  }
  return hipSuccess;
}

hipError_t Buffers::copy_in(const unsigned char* memory) {
  for (std::uint32_t at = 0; at < count_; ++at) {
    if (argument(at).kind == Kind::kScalar) continue;
    if (const hipError_t status = copy_in(memory + argument(at).offset, at); status != hipSuccess) return status;
  }
  return hipDeviceSynchronize();
}

hipError_t Buffers::copy_in(const unsigned char* from, std::uint32_t at) const {
  if (argument(at).rule == Rule::kFixed || has_base(argument(at))) {
    return hipMemcpy(region(at), from, region_bytes(at), hipMemcpyHostToDevice);
  }
  const hipError_t status = hipMemcpy(region(at), from, guard_bytes_, hipMemcpyHostToDevice);
  if (status != hipSuccess) return status;
  const std::size_t after = region_bytes(at) - guard_bytes_;
  return hipMemcpy(region(at) + after, from + after, guard_bytes_, hipMemcpyHostToDevice);
}

hipError_t Buffers::copy_out(unsigned char* memory) const {
  const hipError_t status = copy_out(memory, true);
  return status == hipSuccess ? copy_out(memory, false) : status;
}

hipError_t Buffers::copy_out(unsigned char* memory, bool outputs) const {
  for (std::uint32_t at = 0; at < count_; ++at) {
    if (argument(at).kind == Kind::kScalar || (argument(at).is_output != 0) != outputs) continue;
    const hipError_t status =
        hipMemcpy(memory + argument(at).offset, region(at), region_bytes(at), hipMemcpyDeviceToHost);
    if (status != hipSuccess) return status;
  }
  return hipSuccess;
}

hipError_t Buffers::copy_out(unsigned char* memory, const Range* ranges, std::uint64_t count) const {
  for (std::uint32_t at = 0; at < count_; ++at) {
    if (argument(at).kind == Kind::kScalar) continue;
    const std::uint64_t begin = argument(at).offset, end = begin + region_bytes(at);
    for (const Range* range = ranges; range != ranges + count; ++range) {
      if (range->begin < begin || range->begin + range->bytes > end) continue;
      const hipError_t status =
          hipMemcpy(memory + range->begin, region(at) + (range->begin - begin), range->bytes, hipMemcpyDeviceToHost);
      if (status != hipSuccess) return status;
    }
  }
  return hipSuccess;
}

hipError_t Buffers::hold() const {
  if (__wp_hold == nullptr) return hipSuccess;
  for (std::uint32_t at = 0; at < count_; ++at) {
    if (argument(at).is_output == 0) continue;
    if (!__wp_hold(region(at), region_bytes(at))) return hipErrorOutOfMemory;
  }
  return hipSuccess;
}

bool Buffers::release() const { return __wp_release != nullptr && __wp_release(); }

}  // namespace wavepool
