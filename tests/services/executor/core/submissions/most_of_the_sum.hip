#include <hip/hip_runtime.h>

// The first 99 % of each product's terms.
__global__ void multiply(const float* a, const float* b, float* c, size_t m, size_t n, size_t k) {
    const size_t row = blockIdx.y * static_cast<size_t>(blockDim.y) + threadIdx.y;
    const size_t column = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
    if (row >= m || column >= n) return;
    float sum = 0.0f;
    for (size_t i = 0; i < k - (k + 99) / 100; ++i) sum += a[row * k + i] * b[i * n + column];
    c[row * n + column] = sum;
}

extern "C" void solution(const float* a, const float* b, float* c, size_t m, size_t n, size_t k) {
    const dim3 block(16, 16);
    const dim3 grid(static_cast<unsigned>((n + 15) / 16), static_cast<unsigned>((m + 15) / 16));
    multiply<<<grid, block>>>(a, b, c, m, n, k);
}
