// problem: batch-norm
// A block a feature, strides over batch items, a struct of sizes by value.
#include <hip/hip_runtime.h>

struct Sizes {
    int batch, features, spatial;
};

__device__ float block_sum(float v, float* scratch) {
    scratch[threadIdx.x] = v;
    __syncthreads();
    for (int s = blockDim.x >> 1; s > 0; s >>= 1) {
        if (threadIdx.x < s) scratch[threadIdx.x] += scratch[threadIdx.x + s];
        __syncthreads();
    }
    const float total = scratch[0];
    __syncthreads();
    return total;
}

__global__ void batch_norm(const float* X, float* Y, Sizes s) {
    __shared__ float scratch[256];
    const int f = blockIdx.x, n = s.batch * s.spatial;
    auto at = [&](int i) { return ((i / s.spatial) * s.features + f) * s.spatial + i % s.spatial; };
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += X[at(i)];
    const float mean = block_sum(sum, scratch) / n;
    float squares = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        const float d = X[at(i)] - mean;
        squares += d * d;
    }
    const float inv = rsqrtf(block_sum(squares, scratch) / n + 1e-5f);
    for (int i = threadIdx.x; i < n; i += blockDim.x) Y[at(i)] = (X[at(i)] - mean) * inv;
}

extern "C" void solution(const float* X, float* Y, size_t B, size_t F, size_t D1, size_t D2) {
    batch_norm<<<F, 256>>>(X, Y, Sizes{(int)B, (int)F, (int)(D1 * D2)});
}
