// problem: gelu
// Coefficients in __constant__ memory, filled by hipMemcpyToSymbol.
#include <hip/hip_runtime.h>
#include <math.h>

__constant__ float coefficients[3];

__global__ void gelu(const float* in, float* out, size_t n) {
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float x = in[i];
    const float inner = coefficients[0] * (x + coefficients[1] * x * x * x);
    out[i] = coefficients[2] * x * (1.0f + tanhf(inner));
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
    const float host[3] = {0.7978845608028654f, 0.044715f, 0.5f};
    hipMemcpyToSymbol(HIP_SYMBOL(coefficients), host, sizeof(host));
    gelu<<<(n * m + 511) / 512, 512>>>(input, output, n * m);
}
