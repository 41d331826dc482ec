#include <hip/hip_runtime.h>

// Every block adds up squares into one partial sum; then every block adds up all partial sums, and divides.
constexpr unsigned THREADS = 256;
constexpr unsigned MAX_BLOCKS = 1024;

__device__ float partial_sums[MAX_BLOCKS];

// The sum over all threads of a block, given to every one of them.
__device__ float block_sum(float value) {
    __shared__ float shared[THREADS];
    shared[threadIdx.x] = value;
    __syncthreads();
    for (unsigned step = THREADS / 2; step > 0; step /= 2) {
        if (threadIdx.x < step) shared[threadIdx.x] += shared[threadIdx.x + step];
        __syncthreads();
    }
    return shared[0];
}

__global__ void add_squares(const float* x, size_t size) {
    float sum = 0.0f;
    for (size_t i = blockIdx.x * THREADS + threadIdx.x; i < size; i += gridDim.x * THREADS) {
        const float value = x[i];
        sum += value * value;
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) partial_sums[blockIdx.x] = sum;
}

__global__ void divide(const float* x, float* y, size_t size) {
    float sum = 0.0f;
    for (unsigned i = threadIdx.x; i < gridDim.x; i += THREADS) sum += partial_sums[i];
    const float inverse = 1.0f / sqrtf(block_sum(sum));
    for (size_t i = blockIdx.x * THREADS + threadIdx.x; i < size; i += gridDim.x * THREADS)
        y[i] = static_cast<float>(x[i]) * inverse;
}

extern "C" void solution(const float* X, float* Y, size_t size) {
    const size_t enough = (size + THREADS - 1) / THREADS;
    const unsigned blocks = static_cast<unsigned>(enough < MAX_BLOCKS ? enough : MAX_BLOCKS);
    add_squares<<<blocks, THREADS>>>(X, size);
    divide<<<blocks, THREADS>>>(X, Y, size);
}
