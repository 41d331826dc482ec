#include <hip/hip_runtime.h>

// Set each of the n elements of output to max(0, 1 - prediction * target).

__global__ void hinge_loss(const float* predictions, const float* targets, float* output, size_t n) {
    // one thread's part of the work
}

extern "C" void solution(const float* predictions, const float* targets, float* output, size_t n) {
    // launch it: hinge_loss<<<blocks, threads>>>(...);
}
