// Right on hardware that runs a wavefront in lockstep, and by no rule of the language: advice.
#include <hip/hip_runtime.h>

__global__ void neighbours(const float* in, float* out) {
    __shared__ float tile[64];
    tile[threadIdx.x] = in[threadIdx.x];
    out[threadIdx.x] = tile[63 - threadIdx.x];  // EXPECT lockstep
}

int main() {
    float host[64];
    for (int i = 0; i < 64; ++i) host[i] = i + 1;
    float *in, *out;
    hipMalloc(&in, sizeof(host));
    hipMalloc(&out, sizeof(host));
    hipMemcpy(in, host, sizeof(host), hipMemcpyHostToDevice);
    neighbours<<<1, 64>>>(in, out);
    return 0;
}
