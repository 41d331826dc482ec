// problem: matrix-multiplication
// A templated kernel: 64 x 64 tiles, 4 x 4 results a thread in registers, double buffering.
#include <hip/hip_runtime.h>

template <int BM, int BN, int BK, int TM, int TN>
__global__ void __launch_bounds__((BM / TM) * (BN / TN))
sgemm(int M, int N, int K, const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C) {
    constexpr int THREADS = (BM / TM) * (BN / TN);
    __shared__ float As[2][BK][BM];
    __shared__ float Bs[2][BK][BN];
    const int tid = threadIdx.x;
    const int block_row = blockIdx.y * BM, block_col = blockIdx.x * BN;
    const int thread_row = (tid / (BN / TN)) * TM, thread_col = (tid % (BN / TN)) * TN;

    auto load = [&](int buffer, int k0) {
        for (int i = tid; i < BM * BK; i += THREADS) {
            const int r = i / BK, c = i % BK;
            const int row = block_row + r, col = k0 + c;
            As[buffer][c][r] = row < M && col < K ? A[row * K + col] : 0.0f;
        }
        for (int i = tid; i < BK * BN; i += THREADS) {
            const int r = i / BN, c = i % BN;
            const int row = k0 + r, col = block_col + c;
            Bs[buffer][r][c] = row < K && col < N ? B[row * N + col] : 0.0f;
        }
    };

    float acc[TM][TN] = {};
    int buffer = 0;
    load(0, 0);
    __syncthreads();
    for (int k0 = 0; k0 < K; k0 += BK) {
        if (k0 + BK < K) load(buffer ^ 1, k0 + BK);
#pragma unroll
        for (int k = 0; k < BK; ++k) {
            float a[TM], b[TN];
#pragma unroll
            for (int i = 0; i < TM; ++i) a[i] = As[buffer][k][thread_row + i];
#pragma unroll
            for (int j = 0; j < TN; ++j) b[j] = Bs[buffer][k][thread_col + j];
#pragma unroll
            for (int i = 0; i < TM; ++i)
#pragma unroll
                for (int j = 0; j < TN; ++j) acc[i][j] = fmaf(a[i], b[j], acc[i][j]);
        }
        __syncthreads();
        buffer ^= 1;
    }
    for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j) {
            const int row = block_row + thread_row + i, col = block_col + thread_col + j;
            if (row < M && col < N) C[row * N + col] = acc[i][j];
        }
}

extern "C" void solution(const float* input_a, const float* input_b, float* output_c, size_t m, size_t n, size_t k) {
    constexpr int BM = 64, BN = 64, BK = 8, TM = 4, TN = 4;
    const dim3 grid((n + BN - 1) / BN, (m + BM - 1) / BM);
    sgemm<BM, BN, BK, TM, TN><<<grid, (BM / TM) * (BN / TN)>>>(m, n, k, input_a, input_b, output_c);
}
