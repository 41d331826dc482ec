// problem: matrix-vector
// One wavefront a row, reduced by __shfl_down over warpSize lanes.
#include <hip/hip_runtime.h>

__device__ inline float wave_sum(float v) {
    for (int offset = warpSize / 2; offset > 0; offset >>= 1) v += __shfl_down(v, offset);
    return v;
}

__global__ void matvec(const float* __restrict__ a, const float* __restrict__ x, float* __restrict__ y, size_t m, size_t k) {
    const int lane = threadIdx.x & (warpSize - 1);
    const size_t row = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) / warpSize;
    if (row >= m) return;
    float sum = 0.0f;
    for (size_t j = lane; j < k; j += warpSize) sum += a[row * k + j] * x[j];
    sum = wave_sum(sum);
    if (lane == 0) y[row] = sum;
}

extern "C" void solution(const float* input_a, const float* input_b, float* output_c, size_t m, size_t k) {
    const int threads = 256, rows_per_block = threads / 64;
    matvec<<<(m + rows_per_block - 1) / rows_per_block, threads>>>(input_a, input_b, output_c, m, k);
}
