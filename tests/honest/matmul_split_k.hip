// problem: matrix-multiplication
// Split along k: blocks add into the zeroed output with atomics.
#include <hip/hip_runtime.h>

constexpr int CHUNK = 32;

__global__ void matmul_split_k(const float* a, const float* b, float* c, unsigned m, unsigned n, unsigned k) {
    const unsigned col = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned row = blockIdx.y;
    const unsigned begin = blockIdx.z * CHUNK, end = min(begin + CHUNK, k);
    if (col >= n) return;
    float partial = 0.0f;
    for (unsigned i = begin; i < end; ++i) partial += a[row * k + i] * b[i * n + col];
    atomicAdd(&c[row * n + col], partial);
}

extern "C" void solution(const float* input_a, const float* input_b, float* output_c, size_t m, size_t n, size_t k) {
    dim3 grid((n + 63) / 64, m, (k + CHUNK - 1) / CHUNK);
    matmul_split_k<<<grid, dim3(64)>>>(input_a, input_b, output_c, m, n, k);
}
