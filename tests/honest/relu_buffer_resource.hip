// problem: relu
#include <hip/hip_runtime.h>

__global__ void k(const float* in, float* out, size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    auto resource = __builtin_amdgcn_make_buffer_rsrc((void*)in, 0, (int)(n * 4), 0x00020000);
    const float v = __builtin_bit_cast(float, __builtin_amdgcn_raw_buffer_load_b32(resource, i * 4, 0, 0));
    if (i < (int)n) out[i] = v > 0 ? v : 0;
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
    const size_t count = n * m;
    k<<<(count + 255) / 256, 256>>>(input, output, count);
}
