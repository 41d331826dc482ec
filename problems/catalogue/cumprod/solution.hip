#include <hip/hip_runtime.h>

// Reduce, then scan. The input is cut into one contiguous chunk per block. A first kernel multiplies up every chunk;
// in a second, each block multiplies up the chunks before its own and scans its chunk from there, a tile at a time.
constexpr unsigned THREADS = 256;
constexpr unsigned EACH = 4;
constexpr unsigned TILE = THREADS * EACH;
constexpr unsigned MAX_CHUNKS = 512;

__device__ float chunk_products[MAX_CHUNKS];

// The product of `value` over the threads up to and including this one. Starts and ends with a barrier.
__device__ float inclusive_scan(float value, float* shared) {
    shared[threadIdx.x] = value;
    __syncthreads();
    for (unsigned step = 1; step < THREADS; step *= 2) {
        const float left = threadIdx.x >= step ? shared[threadIdx.x - step] : 1.0f;
        __syncthreads();
        shared[threadIdx.x] *= left;
        __syncthreads();
    }
    return shared[threadIdx.x];
}

__global__ void multiply_chunks(const float* input, size_t n, size_t chunk) {
    __shared__ float shared[THREADS];
    const size_t begin = blockIdx.x * chunk;
    const size_t end = begin + chunk < n ? begin + chunk : n;

    float product = 1.0f;
    for (size_t i = begin + threadIdx.x; i < end; i += THREADS) product *= input[i];
    shared[threadIdx.x] = product;
    __syncthreads();
    for (unsigned step = THREADS / 2; step > 0; step /= 2) {
        if (threadIdx.x < step) shared[threadIdx.x] *= shared[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) chunk_products[blockIdx.x] = shared[0];
}

__global__ void scan_chunks(const float* input, float* output, size_t n, size_t chunk) {
    __shared__ float shared[THREADS];
    __shared__ float carry;
    const size_t begin = blockIdx.x * chunk;
    const size_t end = begin + chunk < n ? begin + chunk : n;

    float before = 1.0f;
    for (unsigned i = threadIdx.x; i < blockIdx.x; i += THREADS) before *= chunk_products[i];
    const float prefix = inclusive_scan(before, shared);
    if (threadIdx.x == THREADS - 1) carry = prefix;
    __syncthreads();

    for (size_t tile = begin; tile < end; tile += TILE) {
        const size_t first = tile + threadIdx.x * EACH;
        float values[EACH];
        float product = 1.0f;
        for (unsigned i = 0; i < EACH; ++i) {
            if (first + i < end) product *= input[first + i];
            values[i] = product;
        }
        const float total = inclusive_scan(product, shared);
        const float offset = carry * (threadIdx.x > 0 ? shared[threadIdx.x - 1] : 1.0f);
        for (unsigned i = 0; i < EACH; ++i)
            if (first + i < end) output[first + i] = offset * values[i];
        __syncthreads();
        if (threadIdx.x == THREADS - 1) carry *= total;
        __syncthreads();
    }
}

extern "C" void solution(const float* input, float* output, size_t N) {
    const size_t tiles = (N + TILE - 1) / TILE;
    const size_t tiles_per_chunk = (tiles + MAX_CHUNKS - 1) / MAX_CHUNKS;
    const size_t chunk = tiles_per_chunk * TILE;
    const unsigned chunks = static_cast<unsigned>((N + chunk - 1) / chunk);
    multiply_chunks<<<chunks, THREADS>>>(input, N, chunk);
    scan_chunks<<<chunks, THREADS>>>(input, output, N, chunk);
}
