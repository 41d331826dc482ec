#include <hip/hip_runtime.h>

constexpr unsigned THREADS = 256;

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

// A block per row adds up the product of the two rows and both squares.
__global__ void cosine_distance(const float* predictions, const float* targets, float* output, size_t d) {
    const size_t first = blockIdx.x * d;
    float product = 0.0f, square_p = 0.0f, square_t = 0.0f;
    for (size_t i = threadIdx.x; i < d; i += THREADS) {
        const float p = predictions[first + i], t = targets[first + i];
        product += p * t;
        square_p += p * p;
        square_t += t * t;
    }
    product = block_sum(product);
    square_p = block_sum(square_p);
    square_t = block_sum(square_t);
    if (threadIdx.x == 0) output[blockIdx.x] = 1.0f - product / (sqrtf(square_p) * sqrtf(square_t));
}

extern "C" void solution(const float* predictions, const float* targets, float* output, size_t n, size_t d) {
    cosine_distance<<<static_cast<unsigned>(n), THREADS>>>(predictions, targets, output, d);
}
