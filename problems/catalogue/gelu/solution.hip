#include <hip/hip_runtime.h>

constexpr float inverse_sqrt_2 = 0.70710678f;

__global__ void gelu(const float* input, float* output, size_t count) {
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float x = input[i];
    output[i] = 0.5f * x * (1.0f + erff(x * inverse_sqrt_2));
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
    const size_t count = n * m;
    const unsigned threads = 256;
    const unsigned blocks = static_cast<unsigned>((count + threads - 1) / threads);
    gelu<<<blocks, threads>>>(input, output, count);
}
