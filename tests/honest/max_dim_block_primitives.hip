// problem: max-dim
// A reduction by __shfl_xor over 64 lanes and one shared value a wavefront.
#include <hip/hip_runtime.h>
#include <float.h>

template <int THREADS>
__device__ float block_max(float v) {
    __shared__ float waves[THREADS / 64];
    for (int mask = 32; mask > 0; mask >>= 1) v = fmaxf(v, __shfl_xor(v, mask));
    if ((threadIdx.x & 63) == 0) waves[threadIdx.x >> 6] = v;
    __syncthreads();
    v = waves[0];
#pragma unroll
    for (int w = 1; w < THREADS / 64; ++w) v = fmaxf(v, waves[w]);
    return v;
}

__global__ void max_kernel(const float* in, float* out, size_t length, size_t inner) {
    const float* p = in + (blockIdx.x / inner) * length * inner + blockIdx.x % inner;
    float best = -FLT_MAX;
    for (size_t j = threadIdx.x; j < length; j += 128) best = fmaxf(best, p[j * inner]);
    best = block_max<128>(best);
    if (threadIdx.x == 0) out[blockIdx.x] = best;
}

extern "C" void solution(const float* input, int dim, float* output, const size_t* shape, size_t ndim) {
    size_t outer = 1, inner = 1;
    for (int d = 0; d < dim; ++d) outer *= shape[d];
    for (size_t d = dim + 1; d < ndim; ++d) inner *= shape[d];
    max_kernel<<<dim3(outer * inner), dim3(128)>>>(input, output, shape[dim], inner);
}
