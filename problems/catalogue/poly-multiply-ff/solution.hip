#include <hip/hip_runtime.h>
#include <stdint.h>

constexpr uint64_t PRIME = 0x7fffffffu;
constexpr int THREADS = 64;
constexpr int PIECE = 128;

// 2^31 is 1 modulo the prime, so the upper bits count as much as the lower ones.
__device__ uint64_t folded(uint64_t x) { return (x & PRIME) + (x >> 31); }

// One coefficient per thread. The factors pass by in pieces in shared memory.
__global__ void multiply(const uint32_t* a, const uint32_t* b, uint32_t* output, int n) {
    __shared__ uint32_t a_piece[PIECE];
    __shared__ uint32_t b_piece[PIECE + THREADS];
    const int first = blockIdx.x * THREADS, k = first + threadIdx.x;
    uint64_t sum = 0;

    for (int start = 0; start < n; start += PIECE) {
        const int b_start = first - start - PIECE + 1;
        for (int i = threadIdx.x; i < PIECE; i += THREADS) a_piece[i] = start + i < n ? a[start + i] : 0;
        for (int i = threadIdx.x; i < PIECE + THREADS; i += THREADS)
            b_piece[i] = b_start + i >= 0 && b_start + i < n ? b[b_start + i] : 0;
        __syncthreads();
        for (int i = 0; i < PIECE; ++i)
            sum = folded(sum + static_cast<uint64_t>(a_piece[i]) * b_piece[k - start - i - b_start]);
        __syncthreads();
    }

    const uint64_t last = folded(folded(sum));
    if (k < 2 * n - 1) output[k] = static_cast<uint32_t>(last >= PRIME ? last - PRIME : last);
}

extern "C" void solution(const uint32_t* d_input1, const uint32_t* d_input2, uint32_t* d_output, size_t n) {
    const int coefficients = 2 * static_cast<int>(n) - 1;
    multiply<<<(coefficients + THREADS - 1) / THREADS, THREADS>>>(d_input1, d_input2, d_output, static_cast<int>(n));
}
