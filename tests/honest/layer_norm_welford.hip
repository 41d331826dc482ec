// problem: layer-norm
// Welford's method in one pass, merged through shared memory.
#include <hip/hip_runtime.h>

#define THREADS 128

__global__ void layer_norm(const float* X, const float* gamma, const float* beta, float* Y, size_t size) {
    __shared__ float s_mean[THREADS], s_m2[THREADS], s_count[THREADS];
    const float* x = X + blockIdx.x * size;
    float mean = 0, m2 = 0, count = 0;
    for (size_t i = threadIdx.x; i < size; i += THREADS) {
        count += 1;
        const float delta = x[i] - mean;
        mean += delta / count;
        m2 += delta * (x[i] - mean);
    }
    s_mean[threadIdx.x] = mean; s_m2[threadIdx.x] = m2; s_count[threadIdx.x] = count;
    __syncthreads();
    for (int s = THREADS / 2; s > 0; s /= 2) {
        if (threadIdx.x < s) {
            const float na = s_count[threadIdx.x], nb = s_count[threadIdx.x + s], n = na + nb;
            if (nb > 0) {
                const float delta = s_mean[threadIdx.x + s] - s_mean[threadIdx.x];
                s_mean[threadIdx.x] += delta * nb / n;
                s_m2[threadIdx.x] += s_m2[threadIdx.x + s] + delta * delta * na * nb / n;
                s_count[threadIdx.x] = n;
            }
        }
        __syncthreads();
    }
    const float inv = rsqrtf(s_m2[0] / size + 1e-5f);
    for (size_t i = threadIdx.x; i < size; i += THREADS)
        Y[blockIdx.x * size + i] = (x[i] - s_mean[0]) * inv * gamma[i] + beta[i];
}

extern "C" void solution(const float* X, const float* gamma, const float* beta, float* Y, size_t B, size_t F, size_t D1, size_t D2) {
    layer_norm<<<B, THREADS>>>(X, gamma, beta, Y, F * D1 * D2);
}
