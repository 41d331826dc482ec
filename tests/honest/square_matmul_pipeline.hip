// problem: square-matmul
#include <cuda_runtime.h>
#include <cuda_pipeline.h>
#define TS 16
__global__ void mm(const float* A, const float* B, float* C, int n) {
    __shared__ float As[2][TS][TS], Bs[2][TS][TS];
    int ty = threadIdx.y, tx = threadIdx.x, row = blockIdx.y * TS + ty, col = blockIdx.x * TS + tx;
    int tiles = (n + TS - 1) / TS;
    auto stage = [&](int b, int t) {
        int ac = t * TS + tx, br = t * TS + ty;
        if (row < n && ac < n) __pipeline_memcpy_async(&As[b][ty][tx], &A[row * n + ac], sizeof(float)); else As[b][ty][tx] = 0;
        if (br < n && col < n) __pipeline_memcpy_async(&Bs[b][ty][tx], &B[br * n + col], sizeof(float)); else Bs[b][ty][tx] = 0;
        __pipeline_commit();
    };
    stage(0, 0);
    float acc = 0;
    for (int t = 0; t < tiles; ++t) {
        if (t + 1 < tiles) stage((t + 1) & 1, t + 1); else __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        for (int k = 0; k < TS; ++k) acc += As[t & 1][ty][k] * Bs[t & 1][k][tx];
        __syncthreads();
    }
    if (row < n && col < n) C[row * n + col] = acc;
}
extern "C" void solution(const float* input_a, const float* input_b, float* output_c, size_t n) {
    dim3 b(TS, TS), g((n + TS - 1) / TS, (n + TS - 1) / TS);
    mm<<<g, b>>>(input_a, input_b, output_c, n);
}
