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

// A block per triplet: its threads add up both squared distances, and the first adds the loss to the mean.
__global__ void triplet_margin(const float* anchor, const float* positive, const float* negative, float* loss,
                               size_t batch, size_t length, float margin) {
    const size_t first = blockIdx.x * length;
    float near = 0.0f, far = 0.0f;
    for (size_t i = threadIdx.x; i < length; i += THREADS) {
        const float to_positive = anchor[first + i] - positive[first + i] + 1e-6f;
        const float to_negative = anchor[first + i] - negative[first + i] + 1e-6f;
        near += to_positive * to_positive;
        far += to_negative * to_negative;
    }
    near = block_sum(near);
    far = block_sum(far);
    if (threadIdx.x == 0) atomicAdd(loss, fmaxf(0.0f, sqrtf(near) - sqrtf(far) + margin) / batch);
}

extern "C" void solution(const float* anchor, const float* positive, const float* negative, float* loss, size_t B,
                         size_t E, float margin) {
    triplet_margin<<<static_cast<unsigned>(B), THREADS>>>(anchor, positive, negative, loss, B, E, margin);
}
