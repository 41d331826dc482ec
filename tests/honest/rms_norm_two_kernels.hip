// problem: rms-norm
// Two kernels with hipMallocAsync and hipFreeAsync between them.
#include <hip/hip_runtime.h>

__global__ void row_scale(const float* X, float* scale, size_t N) {
    __shared__ float partial[256];
    float sum = 0;
    for (size_t j = threadIdx.x; j < N; j += blockDim.x) {
        const float v = X[blockIdx.x * N + j];
        sum += v * v;
    }
    partial[threadIdx.x] = sum;
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        __syncthreads();
        if (threadIdx.x < s) partial[threadIdx.x] += partial[threadIdx.x + s];
    }
    if (threadIdx.x == 0) scale[blockIdx.x] = 1.0f / sqrtf(partial[0] / N + 1e-5f);
}

__global__ void apply_scale(const float* X, const float* scale, float* Y, size_t N) {
    const size_t j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < N) Y[blockIdx.y * N + j] = X[blockIdx.y * N + j] * scale[blockIdx.y];
}

extern "C" void solution(const float* X, float* Y, size_t B, size_t N) {
    hipStream_t stream = 0;
    float* scale = nullptr;
    hipMallocAsync((void**)&scale, B * sizeof(float), stream);
    row_scale<<<B, 256, 0, stream>>>(X, scale, N);
    apply_scale<<<dim3((N + 255) / 256, B), 256, 0, stream>>>(X, scale, Y, N);
    hipFreeAsync(scale, stream);
}
