// problem: min-dim
// Floats as ordered integers, initialised by one kernel, lowered by atomicMin in another, turned back by a third.
#include <hip/hip_runtime.h>

__device__ unsigned encode(float f) {
    unsigned u = __float_as_uint(f);
    return (u & 0x80000000u) ? ~u : (u | 0x80000000u);
}
__device__ float decode(unsigned u) { return __uint_as_float((u & 0x80000000u) ? (u & 0x7fffffffu) : ~u); }

__global__ void init(unsigned* out, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) out[i] = 0xffffffffu;
}
__global__ void lower(const float* in, unsigned* out, size_t total, size_t length, size_t inner) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= total) return;
    atomicMin(&out[i / (length * inner) * inner + i % inner], encode(in[i]));
}
__global__ void finish(float* out, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) out[i] = decode(__float_as_uint(out[i]));
}

extern "C" void solution(const float* input, int dim, float* output, const size_t* shape, size_t ndim) {
    size_t total = 1, inner = 1;
    for (size_t d = 0; d < ndim; ++d) total *= shape[d];
    for (size_t d = dim + 1; d < ndim; ++d) inner *= shape[d];
    const size_t n = total / shape[dim];
    init<<<(n + 255) / 256, 256>>>(reinterpret_cast<unsigned*>(output), n);
    lower<<<(total + 255) / 256, 256>>>(input, reinterpret_cast<unsigned*>(output), total, shape[dim], inner);
    finish<<<(n + 255) / 256, 256>>>(output, n);
}
