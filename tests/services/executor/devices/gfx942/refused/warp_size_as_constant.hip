#include <hip/hip_runtime.h>

__global__ void k(const float* X, float* Y, size_t D) {
    const float* x = X + blockIdx.x * D;
    float s = 0;
    for (size_t j = threadIdx.x; j < D; j += blockDim.x) s += x[j] * x[j];
    __shared__ float part[256 / warpSize];
    for (int o = warpSize / 2; o; o >>= 1) s += __shfl_down(s, o);
    if (threadIdx.x % warpSize == 0) part[threadIdx.x / warpSize] = s;
    __syncthreads();
    float total = 0;
    for (int w = 0; w < 256 / warpSize; ++w) total += part[w];
    for (size_t j = threadIdx.x; j < D; j += blockDim.x) Y[blockIdx.x * D + j] = x[j] / sqrtf(total);
}

extern "C" void solution(const float* X, float* Y, size_t B, size_t D) { k<<<B, 256>>>(X, Y, D); }
