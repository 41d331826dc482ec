// problem: selu
// A kernel that prints once, and host code that prints through iostream.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <iostream>

__global__ void selu(const float* in, float* out, size_t n) {
    const float alpha = 1.6732632423543772f, scale = 1.0507009873554805f;
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i == 0) printf("block %d of %d, %d threads\n", (int)blockIdx.x, (int)gridDim.x, (int)blockDim.x);
    if (i < n) out[i] = scale * (in[i] > 0 ? in[i] : alpha * (expf(in[i]) - 1.0f));
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
    std::cout << "selu of " << n << " x " << m << std::endl;
    selu<<<(n * m + 255) / 256, 256>>>(input, output, n * m);
}
