#include <hip/hip_runtime.h>

constexpr unsigned THREADS = 256;

// A block per row: it finds the maximum, then the sum of exponentials, then writes.
__global__ void log_softmax(const float* input, float* output, size_t length) {
    __shared__ float shared[THREADS];
    const size_t first = blockIdx.x * length;

    float largest = -INFINITY;
    for (size_t i = threadIdx.x; i < length; i += THREADS)
        largest = fmaxf(largest, static_cast<float>(input[first + i]));
    shared[threadIdx.x] = largest;
    __syncthreads();
    for (unsigned step = THREADS / 2; step > 0; step /= 2) {
        if (threadIdx.x < step) shared[threadIdx.x] = fmaxf(shared[threadIdx.x], shared[threadIdx.x + step]);
        __syncthreads();
    }
    largest = shared[0];
    __syncthreads();

    float sum = 0.0f;
    for (size_t i = threadIdx.x; i < length; i += THREADS) sum += expf(static_cast<float>(input[first + i]) - largest);
    shared[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned step = THREADS / 2; step > 0; step /= 2) {
        if (threadIdx.x < step) shared[threadIdx.x] += shared[threadIdx.x + step];
        __syncthreads();
    }

    const float logarithm = logf(shared[0]);
    for (size_t i = threadIdx.x; i < length; i += THREADS)
        output[first + i] = static_cast<float>(input[first + i]) - largest - logarithm;
}

extern "C" void solution(const float* input, float* output, size_t M, size_t N) {
    log_softmax<<<static_cast<unsigned>(M), THREADS>>>(input, output, N);
}
