#include <hip/hip_runtime.h>

constexpr int THREADS = 256;
constexpr int TILE = 2 * THREADS;

__device__ void order(int& low, int& high, bool rising) {
    if ((low > high) != rising) return;
    const int kept = low;
    low = high;
    high = kept;
}

// Bitonic sort. Runs of `run` numbers become sorted, rising and falling in turn, by comparisons over shrinking
// distances. As long as they stay within a tile, they are made in shared memory.
__device__ void merge_tile(int* tile, size_t base, size_t run, int distance) {
    for (; distance > 0; distance /= 2) {
        __syncthreads();
        const int at = 2 * threadIdx.x - (threadIdx.x & (distance - 1));
        order(tile[at], tile[at + distance], ((base + at) & run) == 0);
    }
}

__global__ void sort_tiles(const int* from, int* to, size_t run, size_t last_run) {
    __shared__ int tile[TILE];
    const size_t base = blockIdx.x * static_cast<size_t>(TILE);
    for (int i = threadIdx.x; i < TILE; i += THREADS) tile[i] = from[base + i];
    for (; run <= last_run; run *= 2) merge_tile(tile, base, run, run < TILE ? static_cast<int>(run / 2) : THREADS);
    __syncthreads();
    for (int i = threadIdx.x; i < TILE; i += THREADS) to[base + i] = tile[i];
}

__global__ void merge_far(int* values, size_t run, size_t distance) {
    const size_t thread = blockIdx.x * static_cast<size_t>(THREADS) + threadIdx.x;
    const size_t at = 2 * thread - (thread & (distance - 1));
    order(values[at], values[at + distance], (at & run) == 0);
}

extern "C" void solution(const int* a, int* b, size_t n) {
    const unsigned tiles = static_cast<unsigned>(n / TILE);
    sort_tiles<<<tiles, THREADS>>>(a, b, 2, TILE);
    for (size_t run = 2 * TILE; run <= n; run *= 2) {
        for (size_t distance = run / 2; distance >= TILE; distance /= 2)
            merge_far<<<tiles, THREADS>>>(b, run, distance);
        sort_tiles<<<tiles, THREADS>>>(b, b, run, run);
    }
}
