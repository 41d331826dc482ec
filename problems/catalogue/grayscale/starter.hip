#include <hip/hip_runtime.h>

// gray = 0.299 * red + 0.587 * green + 0.114 * blue, for each pixel of red, green and blue floats.

__global__ void convert(const float* image, float* gray, size_t pixels) {
    // one thread's part of the work
}

extern "C" void solution(const float* rgb_image, float* grayscale_output, size_t height, size_t width,
                         size_t channels) {
    // launch it: convert<<<blocks, threads>>>(...);
}
