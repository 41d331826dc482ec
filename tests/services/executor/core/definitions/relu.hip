#include <hip/hip_runtime.h>
__global__ void relu_kernel(const float* in, float* out, size_t n) {
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] > 0 ? in[i] : 0;
}
extern "C" void solution(const float* input, float* output, size_t rows, size_t cols) {
    relu_kernel<<<(rows * cols + 255) / 256, 256>>>(input, output, rows * cols);
}
