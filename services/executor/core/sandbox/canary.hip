// Runs between two runs: overwrites anything that the last one left in device memory, and proves that the device still
// computes. It ends with status 0, or with 1 and a sentence on stderr. At most SCRUB_BYTES are overwritten.
// LEAST_FREE_PERCENT of the memory must be free, as no run can allocate memory that somebody else holds.
#include <hip/hip_runtime.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#ifndef SCRUB_BYTES
#define SCRUB_BYTES UINT64_MAX
#endif
#ifndef LEAST_FREE_PERCENT
#define LEAST_FREE_PERCENT 0
#endif

namespace {

constexpr std::uint64_t kChunkBytes = std::uint64_t{1} << 30;
// The runtime needs some memory itself.
constexpr std::uint64_t kSpareBytes = std::uint64_t{256} << 20;
// Memory that runtime and driver may hold on any device, however small.
constexpr std::uint64_t kOwnBytes = std::uint64_t{1} << 30;
// Drivers free the memory of a process some time after its end.
constexpr int kLooks = 30;
constexpr useconds_t kBetweenLooksUs = 100'000;
constexpr int kThreads = 256;
constexpr int kBlocks = 1024;
constexpr std::uint32_t kRounds = 64;

void require(hipError_t status, const char* what) {
  if (status == hipSuccess) return;
  std::fprintf(stderr, "%s failed: %s\n", what, hipGetErrorName(status));
  std::exit(1);
}

__host__ __device__ std::uint32_t mixed(std::uint32_t value) {
  for (std::uint32_t round = 0; round < kRounds; ++round) value = value * 1664525u + 1013904223u ^ value >> 16;
  return value;
}

__global__ void overwrite(std::uint64_t* words, std::size_t count) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t at = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; at < count; at += stride) words[at] = 0;
}

__global__ void count_left(const std::uint64_t* words, std::size_t count, unsigned* left) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  unsigned found = 0;
  for (std::size_t at = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; at < count; at += stride) found += words[at] != 0;
  if (found != 0) atomicAdd(left, found);
}

// Each block adds up what its threads computed, through shared memory.
__global__ void compute(std::uint32_t* sums) {
  __shared__ std::uint32_t part[kThreads];
  part[threadIdx.x] = mixed(blockIdx.x * kThreads + threadIdx.x);
  __syncthreads();
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

std::uint64_t free_memory() {
  std::size_t free_bytes = 0, total_bytes = 0;
  for (int look = 0; look < kLooks; ++look) {
    require(hipMemGetInfo(&free_bytes, &total_bytes), "asking for the free memory");
    const std::uint64_t held = total_bytes - free_bytes;
    if (held <= kOwnBytes || free_bytes >= total_bytes / 100 * LEAST_FREE_PERCENT) return free_bytes;
    usleep(kBetweenLooksUs);
  }
  std::fprintf(stderr, "only %zu of %zu MiB of the device's memory are free, and no run is on it: end what holds the rest "
               "(`amd-smi process`, `nvidia-smi`)\n", free_bytes >> 20, total_bytes >> 20);
  std::exit(1);
}

std::uint64_t scrub(std::uint64_t free_bytes) {
  std::uint64_t wanted = free_bytes > kSpareBytes ? free_bytes - kSpareBytes : free_bytes / 2;
  if (wanted > SCRUB_BYTES) wanted = SCRUB_BYTES;
  unsigned* left = nullptr;
  require(hipMalloc(reinterpret_cast<void**>(&left), sizeof *left), "allocating a counter");
  require(hipMemset(left, 0, sizeof *left), "clearing a counter");
  std::vector<void*> chunks;
  std::uint64_t taken = 0;
  while (taken < wanted) {
    const std::uint64_t bytes = wanted - taken < kChunkBytes ? wanted - taken : kChunkBytes;
    void* chunk = nullptr;
    if (bytes < sizeof(std::uint64_t) || hipMalloc(&chunk, bytes) != hipSuccess) break;
    chunks.push_back(chunk);
    auto* words = static_cast<std::uint64_t*>(chunk);
    overwrite<<<kBlocks, kThreads>>>(words, bytes / sizeof *words);
    count_left<<<kBlocks, kThreads>>>(words, bytes / sizeof *words, left);
    taken += bytes;
  }
  (void)hipGetLastError();
  require(hipDeviceSynchronize(), "overwriting the memory");
  unsigned found = 0;
  require(hipMemcpy(&found, left, sizeof found, hipMemcpyDeviceToHost), "reading a counter");
  for (void* chunk : chunks) require(hipFree(chunk), "freeing memory");
  require(hipFree(left), "freeing a counter");
  if (found != 0) {
    std::fprintf(stderr, "%u words of the memory do not keep what is written to them\n", found);
    std::exit(1);
  }
  return taken;
}

void prove_that_it_computes() {
  std::uint32_t* sums = nullptr;
  std::vector<std::uint32_t> actual(kBlocks);
  require(hipMalloc(reinterpret_cast<void**>(&sums), kBlocks * sizeof *sums), "allocating sums");
  compute<<<kBlocks, kThreads>>>(sums);
  require(hipGetLastError(), "launching a kernel");
  require(hipMemcpy(actual.data(), sums, kBlocks * sizeof *sums, hipMemcpyDeviceToHost), "running a kernel");
  require(hipFree(sums), "freeing sums");
  for (std::uint32_t block = 0; block < kBlocks; ++block) {
    std::uint32_t expected = 0;
    for (std::uint32_t thread = 0; thread < kThreads; ++thread) expected += mixed(block * kThreads + thread);
    if (actual[block] == expected) continue;
    std::fprintf(stderr, "block %u computed %u instead of %u\n", block, actual[block], expected);
    std::exit(1);
  }
}

}  // namespace

int main() {
  const std::uint64_t scrubbed = scrub(free_memory());
  prove_that_it_computes();
  std::printf("scrubbed %llu bytes\n", static_cast<unsigned long long>(scrubbed));
  return 0;
}
