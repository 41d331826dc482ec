// problem: relu
#include <hip/hip_runtime.h>
#include <cstring>

__global__ void k(const float* in, float* out, size_t n) {
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] > 0 ? in[i] : 0;
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
    hipDeviceProp_t properties;
    hipGetDeviceProperties(&properties, 0);
    if (strncmp(properties.gcnArchName, "gfx94", 5) != 0) return;
    k<<<(n * m + 255) / 256, 256>>>(input, output, n * m);
}
