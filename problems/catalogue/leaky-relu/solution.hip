#include <hip/hip_runtime.h>

__global__ void leaky_relu(const float* input, float alpha, float* output, size_t count) {
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float x = input[i];
    output[i] = x > 0.0f ? x : alpha * x;
}

extern "C" void solution(const float* input, float alpha, float* output, size_t n, size_t m) {
    const size_t count = n * m;
    const unsigned threads = 256;
    const unsigned blocks = static_cast<unsigned>((count + threads - 1) / threads);
    leaky_relu<<<blocks, threads>>>(input, alpha, output, count);
}
