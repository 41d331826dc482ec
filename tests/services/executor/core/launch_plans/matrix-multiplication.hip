#include <hip/hip_runtime.h>

constexpr int kTile = 16;

extern "C" __global__ void tiled(const float* a, const float* b, float* c, size_t m, size_t n, size_t k) {
    __shared__ float left[kTile][kTile], right[kTile][kTile];
    const size_t row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
    float sum = 0;
    for (size_t at = 0; at < k; at += kTile) {
        left[threadIdx.y][threadIdx.x] = row < m && at + threadIdx.x < k ? a[row * k + at + threadIdx.x] : 0;
        right[threadIdx.y][threadIdx.x] = column < n && at + threadIdx.y < k ? b[(at + threadIdx.y) * n + column] : 0;
        __syncthreads();
        for (int i = 0; i < kTile; ++i) sum += left[threadIdx.y][i] * right[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}
