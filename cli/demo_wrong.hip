#include <hip/hip_runtime.h>

// Wrong on purpose: negative values get half of the slope that they should.

__global__ void leaky_relu(const float* input, float alpha, float* output, size_t count) {
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count) output[i] = input[i] > 0.0f ? input[i] : 0.5f * alpha * input[i];
}

extern "C" void solution(const float* input, float alpha, float* output, size_t n, size_t m) {
    const size_t count = n * m;
    leaky_relu<<<static_cast<unsigned>((count + 255) / 256), 256>>>(input, alpha, output, count);
}
