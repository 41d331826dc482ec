#include <hip/hip_runtime.h>

__global__ void huber_loss(const float* predictions, const float* targets, float* output, size_t n) {
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float p = predictions[i];
    const float t = targets[i];
    const float apart = fabsf(p - t);
    output[i] = apart < 1.0f ? 0.5f * apart * apart : apart - 0.5f;
}

extern "C" void solution(const float* predictions, const float* targets, float* output, size_t n) {
    const unsigned threads = 256;
    const unsigned blocks = static_cast<unsigned>((n + threads - 1) / threads);
    huber_loss<<<blocks, threads>>>(predictions, targets, output, n);
}
