// problem: frobenius-norm
// NVIDIA's cooperative groups blog: sum with thread_group, vectors of int4 style, atomicAdd per block
#include <cooperative_groups.h>
#include <cuda_runtime.h>
using namespace cooperative_groups;
__device__ float reduce_sum(thread_group g, float* temp, float val) {
    int lane = g.thread_rank();
    for (int i = g.size() / 2; i > 0; i /= 2) {
        temp[lane] = val;
        g.sync();
        if (lane < i) val += temp[lane + i];
        g.sync();
    }
    return val;
}
__device__ float thread_sum(const float* input, size_t n) {
    float sum = 0;
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += blockDim.x * gridDim.x) {
        float4 in = ((const float4*)input)[i];
        sum += in.x * in.x + in.y * in.y + in.z * in.z + in.w * in.w;
    }
    if (blockIdx.x == 0 && threadIdx.x < n % 4) { float v = input[n / 4 * 4 + threadIdx.x]; sum += v * v; }
    return sum;
}
__device__ float total;
__global__ void zero() { total = 0.0f; }
__global__ void sum_kernel_block(const float* input, size_t n) {
    float my_sum = thread_sum(input, n);
    extern __shared__ float temp[];
    auto g = this_thread_block();
    float block_sum = reduce_sum(g, temp, my_sum);
    if (g.thread_rank() == 0) atomicAdd(&total, block_sum);
}
__global__ void divide(const float* x, float* y, size_t n) {
    float inv = __frcp_rn(__fsqrt_rn(total));
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) y[i] = x[i] * inv;
}
extern "C" void solution(const float* X, float* Y, size_t size) {
    zero<<<1, 1>>>();
    sum_kernel_block<<<64, 256, 256 * sizeof(float)>>>(X, size);
    divide<<<64, 256>>>(X, Y, size);
}
