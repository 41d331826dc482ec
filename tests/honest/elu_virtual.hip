// problem: elu
// Virtual functions, recursion and a table of functions on the device.
#include <hip/hip_runtime.h>
struct Base {
    __device__ virtual float f(float x) const = 0;
    __device__ virtual ~Base() {}
};
struct Elu : Base {
    float a;
    __device__ Elu(float a) : a(a) {}
    __device__ float f(float x) const override { return x > 0 ? x : a * expm1f(x); }
};
__device__ float ipow(float x, int n) { return n == 0 ? 1.f : x * ipow(x, n - 1); }
typedef float (*fn)(float, int);
__device__ fn table[2] = {ipow, ipow};
__global__ void k(const float* in, float* out, size_t n, float a) {
    Elu e(a);
    const Base* b = &e;
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) out[i] = b->f(in[i]) * table[i & 1](1.f, 3);
}
extern "C" void solution(const float* input, float* output, size_t n, size_t m, float alpha) {
    k<<<(n * m + 255) / 256, 256>>>(input, output, n * m, alpha);
}
