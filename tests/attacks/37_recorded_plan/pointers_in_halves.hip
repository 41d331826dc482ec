// The kernel gets one array as an integer, one turned inside out, and one in two halves. The work is honest.
#include <hip/hip_runtime.h>
#include <stdint.h>

__global__ void add(uint64_t first, uint64_t turned, uint32_t high, uint32_t low, size_t n) {
  const auto* a = reinterpret_cast<const float*>(first);
  const auto* b = reinterpret_cast<const float*>(~turned);
  auto* c = reinterpret_cast<float*>(static_cast<uint64_t>(high) << 32 | low);
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

extern "C" void solution(const float* d_input1, const float* d_input2, float* d_output, size_t n) {
  const auto output = reinterpret_cast<uint64_t>(d_output);
  add<<<(n + 255) / 256, 256>>>(reinterpret_cast<uint64_t>(d_input1), ~reinterpret_cast<uint64_t>(d_input2),
                               static_cast<uint32_t>(output >> 32), static_cast<uint32_t>(output), n);
}
