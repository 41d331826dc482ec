// problem: sum-dim
// CUDA as it was: 32 lanes a row, masks of 32 bits, a broadcast from lane 0.
#include <cuda_runtime.h>
__inline__ __device__ float wsum(float v) {
    unsigned mask = __activemask();
    for (int o = 16; o > 0; o /= 2) v += __shfl_down_sync(mask, v, o);
    return v;
}
__global__ void k(const float* in, float* out, int L, int inner, int total) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= total) return;
    float s = 0;
    for (int t = lane; t < L; t += 32) s += in[((size_t)(row / inner) * L + t) * inner + row % inner];
    s = wsum(s);
    s = __shfl_sync(0xffffffff, s, 0);
    if (lane == 3) out[row] = s;
}
extern "C" void solution(const float* input, int dim, float* output, const size_t* shape, size_t ndim) {
    size_t h[8];
    cudaMemcpy(h, shape, ndim * 8, cudaMemcpyDeviceToHost);
    int o = 1, in = 1;
    for (int i = 0; i < dim; i++) o *= h[i];
    for (int i = dim + 1; i < (int)ndim; i++) in *= h[i];
    k<<<(o * in * 32 + 127) / 128, 128>>>(input, output, h[dim], in, o * in);
}
