#include <hip/hip_runtime.h>

// Slide the Kh x Kw taps of `kernel` over the H x W image, with zeros around it; then r = max(sum, 0), and
// r * min(r + 3, 6) / 6.

__global__ void convolve(const float* image, const float* filter, float* output, int height, int width,
                         int filter_height, int filter_width) {
    // one thread's part of the work
}

extern "C" void solution(const float* image, const float* kernel, float* output, size_t H, size_t W, size_t Kh,
                         size_t Kw) {
    // launch it: convolve<<<blocks, threads>>>(...);
}
