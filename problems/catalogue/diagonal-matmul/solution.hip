#include <hip/hip_runtime.h>

__global__ void multiply(const float* diagonal, const float* b, float* c, size_t count, size_t m) {
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count) c[i] = static_cast<float>(diagonal[i / m]) * static_cast<float>(b[i]);
}

extern "C" void solution(const float* diagonal_a, const float* input_b, float* output_c, size_t n, size_t m) {
    const size_t count = n * m;
    const unsigned threads = 256;
    const unsigned blocks = static_cast<unsigned>((count + threads - 1) / threads);
    multiply<<<blocks, threads>>>(diagonal_a, input_b, output_c, count, m);
}
