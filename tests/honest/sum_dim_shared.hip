// problem: sum-dim
// A block a row: a tree in dynamic shared memory, whose size is the launch's third argument.
#include <hip/hip_runtime.h>

__global__ void sum_rows(const float* in, float* out, size_t length, size_t inner) {
    extern __shared__ float sdata[];
    const size_t o = blockIdx.x / inner, i = blockIdx.x % inner;
    const float* p = in + o * length * inner + i;
    float sum = 0.f;
    for (size_t j = threadIdx.x; j < length; j += blockDim.x) sum += p[j * inner];
    sdata[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) sdata[threadIdx.x] += sdata[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = sdata[0];
}

extern "C" void solution(const float* input, int dim, float* output, const size_t* shape, size_t ndim) {
    size_t outer = 1, inner = 1;
    for (int d = 0; d < dim; ++d) outer *= shape[d];
    for (size_t d = dim + 1; d < ndim; ++d) inner *= shape[d];
    const int threads = 64;
    sum_rows<<<outer * inner, threads, threads * sizeof(float)>>>(input, output, shape[dim], inner);
}
