#include <hip/hip_runtime.h>

__global__ void elu(const float* input, float* output, size_t count, float alpha) {
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float x = input[i];
    output[i] = x > 0.0f ? x : alpha * expm1f(x);
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m, float alpha) {
    const size_t count = n * m;
    const unsigned threads = 256;
    const unsigned blocks = static_cast<unsigned>((count + threads - 1) / threads);
    elu<<<blocks, threads>>>(input, output, count, alpha);
}
