#include <hip/hip_runtime.h>

__global__ void apply_threshold(const float* input, float threshold, float* output, size_t count) {
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count) output[i] = input[i] > threshold ? 255.0f : 0.0f;
}

extern "C" void solution(const float* input_image, float threshold_value, float* output_image, size_t height,
                         size_t width) {
    const size_t count = height * width;
    const unsigned threads = 256;
    const unsigned blocks = static_cast<unsigned>((count + threads - 1) / threads);
    apply_threshold<<<blocks, threads>>>(input_image, threshold_value, output_image, count);
}
