#include <hip/hip_runtime.h>

// Every item is cut into chunks, so that few large items still fill the device. A first kernel finds the mean of each
// chunk and the sum of squares around it; a second merges those of its item and writes one chunk of the result.
constexpr unsigned THREADS = 256;
constexpr unsigned MAX_CHUNKS = 256;
constexpr unsigned ITEMS = 64;  // that are worked on at a time
constexpr float EPSILON = 1e-5f;

struct Moments {
    float mean;
    float squares;  // the sum of (x - mean)^2
};

__device__ Moments chunk_moments[ITEMS][MAX_CHUNKS];

// The sum over all threads of a block, given to every one of them.
__device__ float block_sum(float value) {
    __shared__ float shared[THREADS];
    __syncthreads();
    shared[threadIdx.x] = value;
    __syncthreads();
    for (unsigned step = THREADS / 2; step > 0; step /= 2) {
        if (threadIdx.x < step) shared[threadIdx.x] += shared[threadIdx.x + step];
        __syncthreads();
    }
    return shared[0];
}

__device__ size_t chunk_length(size_t n, size_t chunk, unsigned index) {
    const size_t begin = index * chunk;
    return begin >= n ? 0 : n - begin < chunk ? n - begin : chunk;
}

__global__ void find_moments(const float* x, size_t n, size_t chunk) {
    const size_t length = chunk_length(n, chunk, blockIdx.x);
    const float* values = x + blockIdx.y * n + blockIdx.x * chunk;

    float sum = 0.0f;
    for (size_t i = threadIdx.x; i < length; i += THREADS) sum += static_cast<float>(values[i]);
    const float mean = block_sum(sum) / length;
    float squares = 0.0f;
    for (size_t i = threadIdx.x; i < length; i += THREADS) {
        const float apart = static_cast<float>(values[i]) - mean;
        squares += apart * apart;
    }
    squares = block_sum(squares);
    if (threadIdx.x == 0) chunk_moments[blockIdx.y][blockIdx.x] = {mean, squares};
}

__global__ void normalize(const float* x, const float* gamma, const float* beta, float* y, size_t n, size_t chunk) {
    const bool holds_chunk = threadIdx.x < gridDim.x;
    const Moments mine = holds_chunk ? chunk_moments[blockIdx.y][threadIdx.x] : Moments{0.0f, 0.0f};
    const float count = holds_chunk ? static_cast<float>(chunk_length(n, chunk, threadIdx.x)) : 0.0f;
    const float mean = block_sum(mine.mean * count) / n;
    const float apart = mine.mean - mean;
    const float inverse = 1.0f / sqrtf(block_sum(mine.squares + count * apart * apart) / n + EPSILON);

    const size_t length = chunk_length(n, chunk, blockIdx.x);
    const size_t start = blockIdx.x * chunk, item = blockIdx.y * n;
    for (size_t i = start + threadIdx.x; i < start + length; i += THREADS)
        y[item + i] = (static_cast<float>(x[item + i]) - mean) * inverse * static_cast<float>(gamma[i]) +
                      static_cast<float>(beta[i]);
}

extern "C" void solution(const float* X, const float* gamma, const float* beta, float* Y, size_t B, size_t F,
                         size_t D1, size_t D2) {
    const size_t n = F * D1 * D2;
    const size_t smallest = THREADS * 4;
    const size_t even = (n + MAX_CHUNKS - 1) / MAX_CHUNKS;
    const size_t chunk = even < smallest ? smallest : even;
    for (size_t first = 0; first < B; first += ITEMS) {
        const size_t items = B - first < ITEMS ? B - first : ITEMS;
        const dim3 blocks(static_cast<unsigned>((n + chunk - 1) / chunk), static_cast<unsigned>(items));
        find_moments<<<blocks, THREADS>>>(X + first * n, n, chunk);
        normalize<<<blocks, THREADS>>>(X + first * n, gamma, beta, Y + first * n, n, chunk);
    }
}
