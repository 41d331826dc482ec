// problem: threshold
// A ternary in a lambda chosen on the host, hipOccupancyMaxPotentialBlockSize for the block.
#include <hip/hip_runtime.h>

__global__ void threshold_kernel(const float* in, float threshold, float* out, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] > threshold ? 255.0f : 0.0f;
}

extern "C" void solution(const float* input_image, float threshold_value, float* output_image, size_t height, size_t width) {
    int min_grid = 0, block = 0;
    if (hipOccupancyMaxPotentialBlockSize(&min_grid, &block, threshold_kernel, 0, 0) != hipSuccess || block <= 0) block = 256;
    const size_t n = height * width;
    threshold_kernel<<<(n + block - 1) / block, block>>>(input_image, threshold_value, output_image, n);
}
