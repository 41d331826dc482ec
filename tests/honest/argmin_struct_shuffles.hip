// problem: argmin
#include <cuda_runtime.h>
#include <cfloat>
#include <climits>
struct ArgVal { float v; int i; };
__device__ __forceinline__ ArgVal combine(ArgVal a, ArgVal b) {
    return (b.v < a.v || (b.v == a.v && b.i < a.i)) ? b : a;
}
template <unsigned BLOCK>
__global__ __launch_bounds__(BLOCK) void argmin_kernel(const float* __restrict__ in, int* __restrict__ out, int len, int inner) {
    __shared__ ArgVal s[BLOCK / 32];
    int outer_idx = blockIdx.x / inner, inner_idx = blockIdx.x % inner;
    const float* base = in + (size_t)outer_idx * len * inner + inner_idx;
    ArgVal best{FLT_MAX, INT_MAX};
    for (int i = threadIdx.x; i < len; i += BLOCK) best = combine(best, ArgVal{__ldg(base + (size_t)i * inner), i});
#pragma unroll
    for (int o = 16; o; o >>= 1) {
        ArgVal other{__shfl_xor_sync(0xffffffffu, best.v, o), __shfl_xor_sync(0xffffffffu, best.i, o)};
        best = combine(best, other);
    }
    if ((threadIdx.x & 31) == 0) s[threadIdx.x >> 5] = best;
    __syncthreads();
    if (threadIdx.x == 0) {
#pragma unroll
        for (unsigned w = 1; w < BLOCK / 32; ++w) best = combine(best, s[w]);
        out[blockIdx.x] = best.i;
    }
}
// Note: input, output, shape are all device pointers
extern "C" void solution(const float* input, int dim, int* output, const int* shape, int ndim) {
    int outer = 1, inner = 1;
    for (int d = 0; d < dim; d++) outer *= shape[d];
    for (int d = dim + 1; d < ndim; d++) inner *= shape[d];
    argmin_kernel<128><<<outer * inner, 128>>>(input, output, shape[dim], inner);
    cudaDeviceSynchronize();
}
