// problem: matrix-vector
// CUDA habits: warps of 32 with __shfl_down_sync and a full mask, shared memory between warps.
#include <hip/hip_runtime.h>

#define FULL_MASK 0xffffffff

__inline__ __device__ float warpReduceSum(float val) {
    for (int offset = 16; offset > 0; offset /= 2) val += __shfl_down_sync(FULL_MASK, val, offset, 32);
    return val;
}

__inline__ __device__ float blockReduceSum(float val) {
    static __shared__ float shared[32];
    int lane = threadIdx.x % 32;
    int wid = threadIdx.x / 32;
    val = warpReduceSum(val);
    if (lane == 0) shared[wid] = val;
    __syncthreads();
    val = (threadIdx.x < blockDim.x / 32) ? shared[lane] : 0;
    if (wid == 0) val = warpReduceSum(val);
    return val;
}

__global__ void gemv(const float* A, const float* x, float* y, int M, int K) {
    int row = blockIdx.x;
    float sum = 0;
    for (int i = threadIdx.x; i < K; i += blockDim.x) sum += A[(size_t)row * K + i] * x[i];
    sum = blockReduceSum(sum);
    if (threadIdx.x == 0) y[row] = sum;
}

extern "C" void solution(const float* input_a, const float* input_b, float* output_c, size_t m, size_t k) {
    gemv<<<m, 128>>>(input_a, input_b, output_c, m, k);
}
