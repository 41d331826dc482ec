// problem: tanh
// malloc and new in the kernel.
#include <hip/hip_runtime.h>
__global__ void k(const float* in, float* out, size_t n) {
    float* t = (float*)malloc(4 * sizeof(float));
    float* u = new float[2];
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) {
        t[1] = in[i];
        u[0] = tanhf(t[1]);
        out[i] = u[0];
    }
    free(t);
    delete[] u;
}
extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
    k<<<(n * m + 255) / 256, 256>>>(input, output, n * m);
}
