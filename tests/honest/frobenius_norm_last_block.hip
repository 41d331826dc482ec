// problem: frobenius-norm
// Partial sums, __threadfence, an atomic counter by which the last block finishes, then a second kernel.
#include <hip/hip_runtime.h>

#define BLOCKS 64
#define THREADS 256

__device__ double partials[BLOCKS];
__device__ unsigned int finished = 0;
__device__ float inverse_norm;

__global__ void norm(const float* X, size_t size) {
    __shared__ double sums[THREADS];
    __shared__ bool last;
    double sum = 0;
    for (size_t i = blockIdx.x * THREADS + threadIdx.x; i < size; i += BLOCKS * THREADS) sum += (double)X[i] * X[i];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int s = THREADS / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) sums[threadIdx.x] += sums[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        partials[blockIdx.x] = sums[0];
        __threadfence();
        last = atomicInc(&finished, BLOCKS - 1) == BLOCKS - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        double total = 0;
        for (int b = 0; b < BLOCKS; ++b) total += *(volatile double*)&partials[b];
        inverse_norm = (float)(1.0 / sqrt(total));
    }
}

__global__ void scale(const float* X, float* Y, size_t size) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < size; i += gridDim.x * (size_t)blockDim.x)
        Y[i] = X[i] * inverse_norm;
}

extern "C" void solution(const float* X, float* Y, size_t size) {
    norm<<<BLOCKS, THREADS>>>(X, size);
    scale<<<BLOCKS, THREADS>>>(X, Y, size);
}
