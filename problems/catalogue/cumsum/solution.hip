#include <hip/hip_runtime.h>

// Reduce, then scan. The input is cut into one contiguous chunk per block. A first kernel sums every chunk; in a
// second, each block adds up the chunks before its own and scans its chunk from there, a tile at a time.
constexpr unsigned THREADS = 256;
constexpr unsigned EACH = 4;
constexpr unsigned TILE = THREADS * EACH;
constexpr unsigned MAX_CHUNKS = 512;

__device__ float chunk_sums[MAX_CHUNKS];

// The sum of `value` over the threads up to and including this one. Starts and ends with a barrier.
__device__ float inclusive_scan(float value, float* shared) {
    shared[threadIdx.x] = value;
    __syncthreads();
    for (unsigned step = 1; step < THREADS; step *= 2) {
        const float left = threadIdx.x >= step ? shared[threadIdx.x - step] : 0.0f;
        __syncthreads();
        shared[threadIdx.x] += left;
        __syncthreads();
    }
    return shared[threadIdx.x];
}

__global__ void sum_chunks(const float* input, size_t n, size_t chunk) {
    __shared__ float shared[THREADS];
    const size_t begin = blockIdx.x * chunk;
    const size_t end = begin + chunk < n ? begin + chunk : n;

    float sum = 0.0f;
    for (size_t i = begin + threadIdx.x; i < end; i += THREADS) sum += input[i];
    shared[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned step = THREADS / 2; step > 0; step /= 2) {
        if (threadIdx.x < step) shared[threadIdx.x] += shared[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) chunk_sums[blockIdx.x] = shared[0];
}

__global__ void scan_chunks(const float* input, float* output, size_t n, size_t chunk) {
    __shared__ float shared[THREADS];
    __shared__ float carry;
    const size_t begin = blockIdx.x * chunk;
    const size_t end = begin + chunk < n ? begin + chunk : n;

    float before = 0.0f;
    for (unsigned i = threadIdx.x; i < blockIdx.x; i += THREADS) before += chunk_sums[i];
    const float prefix = inclusive_scan(before, shared);
    if (threadIdx.x == THREADS - 1) carry = prefix;
    __syncthreads();

    for (size_t tile = begin; tile < end; tile += TILE) {
        const size_t first = tile + threadIdx.x * EACH;
        float values[EACH];
        float sum = 0.0f;
        for (unsigned i = 0; i < EACH; ++i) {
            if (first + i < end) sum += input[first + i];
            values[i] = sum;
        }
        const float total = inclusive_scan(sum, shared);
        const float offset = carry + (threadIdx.x > 0 ? shared[threadIdx.x - 1] : 0.0f);
        for (unsigned i = 0; i < EACH; ++i)
            if (first + i < end) output[first + i] = offset + values[i];
        __syncthreads();
        if (threadIdx.x == THREADS - 1) carry += total;
        __syncthreads();
    }
}

extern "C" void solution(const float* input, float* output, size_t N) {
    const size_t tiles = (N + TILE - 1) / TILE;
    const size_t tiles_per_chunk = (tiles + MAX_CHUNKS - 1) / MAX_CHUNKS;
    const size_t chunk = tiles_per_chunk * TILE;
    const unsigned chunks = static_cast<unsigned>((N + chunk - 1) / chunk);
    sum_chunks<<<chunks, THREADS>>>(input, N, chunk);
    scan_chunks<<<chunks, THREADS>>>(input, output, N, chunk);
}
