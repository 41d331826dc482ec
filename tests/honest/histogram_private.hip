// problem: histogram
// A histogram in shared memory a block, merged by atomics on the zeroed output.
#include <hip/hip_runtime.h>

__global__ void histogram_kernel(const float* image, int num_bins, float* histogram, size_t n) {
    extern __shared__ unsigned int bins[];
    for (int b = threadIdx.x; b < num_bins; b += blockDim.x) bins[b] = 0;
    __syncthreads();
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(&bins[(int)image[i]], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < num_bins; b += blockDim.x)
        if (bins[b]) atomicAdd(&histogram[b], (float)bins[b]);
}

extern "C" void solution(const float* image, int num_bins, float* histogram, size_t height, size_t width) {
    histogram_kernel<<<32, 256, num_bins * sizeof(unsigned int)>>>(image, num_bins, histogram, height * width);
}
