// problem: mse-loss
// Each block adds its share into one zeroed float.
#include <hip/hip_runtime.h>

__global__ void mse(const float* p, const float* t, float* out, size_t n) {
    __shared__ float cache[256];
    float sum = 0.0f;
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        float d = p[i] - t[i];
        sum += d * d;
    }
    cache[threadIdx.x] = sum;
    __syncthreads();
    int i = blockDim.x / 2;
    while (i != 0) {
        if (threadIdx.x < i) cache[threadIdx.x] += cache[threadIdx.x + i];
        __syncthreads();
        i /= 2;
    }
    if (threadIdx.x == 0) atomicAdd(out, cache[0] / n);
}

extern "C" void solution(const float* predictions, const float* targets, float* output, const size_t* shape, size_t ndim) {
    size_t n = 1;
    for (size_t d = 0; d < ndim; d++) n *= shape[d];
    mse<<<64, 256>>>(predictions, targets, output, n);
}
