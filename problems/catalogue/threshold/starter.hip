#include <hip/hip_runtime.h>

// Set each of the height * width elements of output_image to 255 where input_image is above threshold_value, else 0.

__global__ void apply_threshold(const float* input, float threshold, float* output, size_t count) {
    // one thread's part of the work
}

extern "C" void solution(const float* input_image, float threshold_value, float* output_image, size_t height,
                         size_t width) {
    // launch it: apply_threshold<<<blocks, threads>>>(...);
}
