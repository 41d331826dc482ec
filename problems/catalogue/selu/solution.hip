#include <hip/hip_runtime.h>

constexpr float alpha = 1.6732632423543772f;
constexpr float scale = 1.0507009873554805f;

__global__ void selu(const float* input, float* output, size_t count) {
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float x = input[i];
    output[i] = scale * (x > 0.0f ? x : alpha * expm1f(x));
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
    const size_t count = n * m;
    const unsigned threads = 256;
    const unsigned blocks = static_cast<unsigned>((count + threads - 1) / threads);
    selu<<<blocks, threads>>>(input, output, count);
}
