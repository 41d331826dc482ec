#include "buffers.hpp"

#include <string.h>

namespace wavepool {

hipError_t Buffers::release(Buffer& buffer) {
  if (buffer.address == nullptr) return hipSuccess;
  const hipError_t status = buffer.kind == Kind::kHostReadableArray ? hipHostFree(buffer.address) : hipFree(buffer.address);
  buffer.address = nullptr;
  buffer.bytes = 0;
  return status;
}

hipError_t Buffers::fit(Buffer& buffer, Kind kind, std::size_t bytes) {
  if (buffer.address != nullptr && buffer.kind == kind && buffer.bytes == bytes) return hipSuccess;
  if (const hipError_t status = release(buffer); status != hipSuccess) return status;
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
    if (const hipError_t status = release(buffers_[at]); status != hipSuccess) return status;
  }
  count_ = plan.argument_count;
  for (std::uint32_t at = 0; at < count_; ++at) {
    const Argument& argument = plan.arguments[at];
    Buffer& buffer = buffers_[at];
    const std::size_t bytes = argument.data_bytes + 2 * static_cast<std::size_t>(plan.guard_bytes);
    if (const hipError_t status = fit(buffer, argument.kind, bytes); status != hipSuccess) return status;
    buffer.offset = argument.offset;
    memcpy(buffer.value, argument.value, sizeof buffer.value);
    pointers_[at] = argument.kind == Kind::kScalar ? static_cast<void*>(buffer.value) : buffer.address + plan.guard_bytes;
  }
  return hipSuccess;
}

hipError_t Buffers::copy_in(const unsigned char* memory) {
  for (std::uint32_t at = 0; at < count_; ++at) {
    Buffer& buffer = buffers_[at];
    if (buffer.kind == Kind::kScalar) continue;
    const hipError_t status = hipMemcpy(buffer.address, memory + buffer.offset, buffer.bytes, hipMemcpyHostToDevice);
    if (status != hipSuccess) return status;
  }
  return hipDeviceSynchronize();
}

hipError_t Buffers::copy_out(unsigned char* memory) const {
  for (std::uint32_t at = 0; at < count_; ++at) {
    const Buffer& buffer = buffers_[at];
    if (buffer.kind == Kind::kScalar) continue;
    const hipError_t status = hipMemcpy(memory + buffer.offset, buffer.address, buffer.bytes, hipMemcpyDeviceToHost);
    if (status != hipSuccess) return status;
  }
  return hipSuccess;
}

}  // namespace wavepool
