#include <hip/hip_runtime.h>

__global__ void hinge_loss(const float* predictions, const float* targets, float* output, size_t n) {
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float p = predictions[i];
    const float t = targets[i];
    output[i] = fmaxf(0.0f, 1.0f - p * t);
}

extern "C" void solution(const float* predictions, const float* targets, float* output, size_t n) {
    const unsigned threads = 256;
    const unsigned blocks = static_cast<unsigned>((n + threads - 1) / threads);
    hinge_loss<<<blocks, threads>>>(predictions, targets, output, n);
}
