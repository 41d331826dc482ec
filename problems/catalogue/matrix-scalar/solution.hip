#include <hip/hip_runtime.h>

__global__ void multiply(const float* input, float scalar, float* output, size_t count) {
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count) output[i] = scalar * static_cast<float>(input[i]);
}

extern "C" void solution(const float* input_matrix, const float scalar, float* output_matrix, size_t n) {
    const size_t count = n * n;
    const unsigned threads = 256;
    const unsigned blocks = static_cast<unsigned>((count + threads - 1) / threads);
    multiply<<<blocks, threads>>>(input_matrix, scalar, output_matrix, count);
}
