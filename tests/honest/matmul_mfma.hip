// problem: matrix-multiplication
#include <hip/hip_runtime.h>
typedef float float4_v __attribute__((ext_vector_type(4)));

__global__ void k(const float* A, const float* B, float* C, int m, int n, int depth) {
    const int r = threadIdx.x & 15, q = threadIdx.x >> 4, row = blockIdx.y * 16, col = blockIdx.x * 16;
    float4_v sum = {0, 0, 0, 0};
    for (int p = 0; p < depth; p += 4) {
        const float a = row + r < m && p + q < depth ? A[(size_t)(row + r) * depth + p + q] : 0;
        const float b = col + r < n && p + q < depth ? B[(size_t)(p + q) * n + col + r] : 0;
        sum = __builtin_amdgcn_mfma_f32_16x16x4f32(a, b, sum, 0, 0, 0);
    }
    for (int i = 0; i < 4; ++i)
        if (row + q * 4 + i < m && col + r < n) C[(size_t)(row + q * 4 + i) * n + col + r] = sum[i];
}

extern "C" void solution(const float* A, const float* B, float* C, size_t m, size_t n, size_t depth) {
    k<<<dim3((n + 15) / 16, (m + 15) / 16), 64>>>(A, B, C, m, n, depth);
}
