// problem: cumsum
// A scan in three passes: blocks by shuffles up, their sums on one block, and the sums added back.
#include <hip/hip_runtime.h>

#define THREADS 256

__device__ float scan_block(float v, float* waves) {
    const int lane = threadIdx.x & 63, wave = threadIdx.x >> 6;
    for (int d = 1; d < 64; d <<= 1) {
        const float below = __shfl_up(v, d);
        if (lane >= d) v += below;
    }
    if (lane == 63) waves[wave] = v;
    __syncthreads();
    float before = 0;
    for (int w = 0; w < wave; ++w) before += waves[w];
    __syncthreads();
    return v + before;
}

__global__ void scan_blocks(const float* in, float* out, float* sums, size_t n) {
    __shared__ float waves[THREADS / 64];
    const size_t i = blockIdx.x * (size_t)THREADS + threadIdx.x;
    const float v = scan_block(i < n ? in[i] : 0.0f, waves);
    if (i < n) out[i] = v;
    if (threadIdx.x == THREADS - 1) sums[blockIdx.x] = v;
}

__global__ void scan_sums(float* sums, int count) {
    __shared__ float waves[THREADS / 64];
    __shared__ float carry;
    if (threadIdx.x == 0) carry = 0;
    __syncthreads();
    for (int base = 0; base < count; base += THREADS) {
        const int i = base + threadIdx.x;
        const float v = scan_block(i < count ? sums[i] : 0.0f, waves) + carry;
        if (i < count) sums[i] = v;
        __syncthreads();
        if (threadIdx.x == THREADS - 1) carry = v;
        __syncthreads();
    }
}

__global__ void add_sums(float* out, const float* sums, size_t n) {
    const size_t i = blockIdx.x * (size_t)THREADS + threadIdx.x;
    if (blockIdx.x > 0 && i < n) out[i] += sums[blockIdx.x - 1];
}

extern "C" void solution(const float* input, float* output, size_t N) {
    const int blocks = (N + THREADS - 1) / THREADS;
    float* sums;
    hipMalloc(&sums, blocks * sizeof(float));
    scan_blocks<<<blocks, THREADS>>>(input, output, sums, N);
    scan_sums<<<1, THREADS>>>(sums, blocks);
    add_sums<<<blocks, THREADS>>>(output, sums, N);
    hipFree(sums);
}
