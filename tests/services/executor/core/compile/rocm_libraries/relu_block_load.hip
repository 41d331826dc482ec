// problem: relu
#include <hip/hip_runtime.h>
#include <hipcub/hipcub.hpp>

__global__ void k(const float* in, float* out, int n) {
    typedef hipcub::BlockLoad<float, 256, 4> Load;
    __shared__ typename Load::TempStorage storage;
    float v[4];
    const int base = blockIdx.x * 1024;
    Load(storage).Load(in + base, v, n - base, 0.0f);
    for (int j = 0; j < 4; ++j)
        if (base + (int)threadIdx.x * 4 + j < n) out[base + threadIdx.x * 4 + j] = v[j] > 0 ? v[j] : 0;
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
    k<<<(n * m + 1023) / 1024, 256>>>(input, output, (int)(n * m));
}
