#include <hip/hip_runtime.h>

// Every feature is cut into chunks of its values, so that few large features still fill the device. A first kernel
// finds the mean of each chunk and the sum of squares around it; a second merges those of its feature and writes one
// chunk.
constexpr unsigned THREADS = 256;
constexpr unsigned MAX_CHUNKS = 64;
constexpr unsigned FEATURES = 1024;  // that are worked on at a time
constexpr float EPSILON = 1e-5f;

struct Moments {
    float mean;
    float squares;  // the sum of (x - mean)^2
};

__device__ Moments chunk_moments[FEATURES][MAX_CHUNKS];

// Where the values of one feature lie: `places` neighbours in every item.
struct Feature {
    size_t first, stride, places, count;

    __device__ size_t at(size_t i) const { return first + i / places * stride + i % places; }
};

__device__ Feature feature_of(size_t number, size_t items, size_t features, size_t places) {
    return {number * places, features * places, places, items * places};
}

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

__global__ void find_moments(const float* x, size_t done, size_t items, size_t features, size_t places, size_t chunk) {
    const Feature feature = feature_of(done + blockIdx.y, items, features, places);
    const size_t begin = blockIdx.x * chunk, length = chunk_length(feature.count, chunk, blockIdx.x);

    float sum = 0.0f;
    for (size_t i = threadIdx.x; i < length; i += THREADS) sum += static_cast<float>(x[feature.at(begin + i)]);
    const float mean = block_sum(sum) / length;
    float squares = 0.0f;
    for (size_t i = threadIdx.x; i < length; i += THREADS) {
        const float apart = static_cast<float>(x[feature.at(begin + i)]) - mean;
        squares += apart * apart;
    }
    squares = block_sum(squares);
    if (threadIdx.x == 0) chunk_moments[blockIdx.y][blockIdx.x] = {mean, squares};
}

__global__ void normalize(const float* x, float* y, size_t done, size_t items, size_t features, size_t places,
                          size_t chunk) {
    const Feature feature = feature_of(done + blockIdx.y, items, features, places);
    const bool holds_chunk = threadIdx.x < gridDim.x;
    const Moments mine = holds_chunk ? chunk_moments[blockIdx.y][threadIdx.x] : Moments{0.0f, 0.0f};
    const float count = holds_chunk ? static_cast<float>(chunk_length(feature.count, chunk, threadIdx.x)) : 0.0f;
    const float mean = block_sum(mine.mean * count) / feature.count;
    const float apart = mine.mean - mean;
    const float variance = block_sum(mine.squares + count * apart * apart) / feature.count;
    const float inverse = 1.0f / sqrtf(variance + EPSILON);

    const size_t begin = blockIdx.x * chunk, length = chunk_length(feature.count, chunk, blockIdx.x);
    for (size_t i = threadIdx.x; i < length; i += THREADS) {
        const size_t at = feature.at(begin + i);
        y[at] = (static_cast<float>(x[at]) - mean) * inverse;
    }
}

extern "C" void solution(const float* X, float* Y, size_t B, size_t F, size_t D1, size_t D2) {
    const size_t places = D1 * D2, n = B * places;
    const size_t smallest = THREADS * 4;
    const size_t even = (n + MAX_CHUNKS - 1) / MAX_CHUNKS;
    const size_t chunk = even < smallest ? smallest : even;
    for (size_t done = 0; done < F; done += FEATURES) {
        const size_t count = F - done < FEATURES ? F - done : FEATURES;
        const dim3 blocks(static_cast<unsigned>((n + chunk - 1) / chunk), static_cast<unsigned>(count));
        find_moments<<<blocks, THREADS>>>(X, done, B, F, places, chunk);
        normalize<<<blocks, THREADS>>>(X, Y, done, B, F, places, chunk);
    }
}
