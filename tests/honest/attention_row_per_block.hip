// problem: scaled-dot-attention
// Scores in dynamic shared memory, three phases with barriers between them.
#include <hip/hip_runtime.h>

__global__ void attention(const float* Q, const float* K, const float* V, float* O, int S, int E) {
    extern __shared__ float scores[];
    __shared__ float reduced[128];
    const int head = blockIdx.y, q = blockIdx.x;
    const float* query = Q + ((size_t)head * S + q) * E;
    const float* keys = K + (size_t)head * S * E;
    const float* values = V + (size_t)head * S * E;
    const float scale = 1.0f / sqrtf((float)E);
    float biggest = -INFINITY;
    for (int j = threadIdx.x; j < S; j += blockDim.x) {
        float dot = 0;
        for (int e = 0; e < E; ++e) dot += query[e] * keys[(size_t)j * E + e];
        scores[j] = dot * scale;
        biggest = fmaxf(biggest, scores[j]);
    }
    reduced[threadIdx.x] = biggest;
    __syncthreads();
    for (int s = 64; s > 0; s >>= 1) {
        if (threadIdx.x < s) reduced[threadIdx.x] = fmaxf(reduced[threadIdx.x], reduced[threadIdx.x + s]);
        __syncthreads();
    }
    biggest = reduced[0];
    __syncthreads();
    float sum = 0;
    for (int j = threadIdx.x; j < S; j += blockDim.x) sum += scores[j] = expf(scores[j] - biggest);
    reduced[threadIdx.x] = sum;
    __syncthreads();
    for (int s = 64; s > 0; s >>= 1) {
        if (threadIdx.x < s) reduced[threadIdx.x] += reduced[threadIdx.x + s];
        __syncthreads();
    }
    for (int e = threadIdx.x; e < E; e += blockDim.x) {
        float out = 0;
        for (int j = 0; j < S; ++j) out += scores[j] * values[(size_t)j * E + e];
        O[((size_t)head * S + q) * E + e] = out / reduced[0];
    }
}

extern "C" void solution(const float* Q, const float* K, const float* V, float* output, size_t B, size_t H, size_t S, size_t E) {
    attention<<<dim3(S, B * H), 128, S * sizeof(float)>>>(Q, K, V, output, S, E);
}
