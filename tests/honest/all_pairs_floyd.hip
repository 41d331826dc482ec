// problem: all-pairs-shortest-path
// A launch for each node, in a loop.
#include <hip/hip_runtime.h>

__global__ void prepare(const float* w, float* d, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n * n) return;
    d[i] = i / n == i % n ? 0.0f : (w[i] > 0.0f ? w[i] : INFINITY);
}

__global__ void through(float* d, size_t n, size_t k) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n * n) return;
    const float via = d[i / n * n + k] + d[k * n + i % n];
    if (via < d[i]) d[i] = via;
}

__global__ void finish(float* d, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n * n && isinf(d[i])) d[i] = -1.0f;
}

extern "C" void solution(const float* adj_matrix, float* output, size_t n) {
    const unsigned blocks = (n * n + 255) / 256;
    prepare<<<blocks, 256>>>(adj_matrix, output, n);
    for (size_t k = 0; k < n; ++k) through<<<blocks, 256>>>(output, n, k);
    finish<<<blocks, 256>>>(output, n);
}
