// problem: conv-1d
// A tile with a halo in dynamic shared memory, the filter read through __ldg.
#include <hip/hip_runtime.h>

__global__ void conv1d(const float* A, const float* __restrict__ B, float* C, long long N, long long K) {
    extern __shared__ float tile[];
    const long long radius = K / 2, first = (long long)blockIdx.x * blockDim.x;
    const long long width = blockDim.x + K - 1;
    for (long long i = threadIdx.x; i < width; i += blockDim.x) {
        const long long at = first + i - radius;
        tile[i] = (at >= 0 && at < N) ? A[at] : 0.0f;
    }
    __syncthreads();
    const long long x = first + threadIdx.x;
    if (x < N) {
        float sum = 0.0f;
        for (long long j = 0; j < K; ++j) sum += tile[threadIdx.x + j] * __ldg(B + j);
        C[x] = sum;
    }
}

__global__ void conv1d_plain(const float* A, const float* B, float* C, long long N, long long K) {
    const long long x = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (x >= N) return;
    float sum = 0.0f;
    for (long long j = 0; j < K; ++j) {
        const long long at = x + j - K / 2;
        if (at >= 0 && at < N) sum += A[at] * B[j];
    }
    C[x] = sum;
}

extern "C" void solution(const float* A, const float* B, float* C, size_t N, size_t K) {
    const int threads = 256;
    const size_t shared = (threads + K - 1) * sizeof(float);
    if (shared <= 48 * 1024)
        conv1d<<<(N + threads - 1) / threads, threads, shared>>>(A, B, C, N, K);
    else
        conv1d_plain<<<(N + threads - 1) / threads, threads>>>(A, B, C, N, K);
}
