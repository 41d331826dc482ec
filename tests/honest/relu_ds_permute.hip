// problem: relu
#include <hip/hip_runtime.h>

__global__ void k(const float* in, float* out, size_t n) {
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    const float v = i < n ? in[i] : 0;
    int bits = __builtin_amdgcn_ds_permute((threadIdx.x ^ 1) << 2, __float_as_int(v));
    bits = __builtin_amdgcn_ds_permute((threadIdx.x ^ 1) << 2, bits);
    const float same = __int_as_float(bits);
    if (i < n) out[i] = same > 0 ? same : 0;
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
    const size_t count = n * m;
    k<<<(count + 255) / 256, 256>>>(input, output, count);
}
