#include <hip/hip_runtime.h>

__global__ void branches(float* out) {
    if (threadIdx.x < 16) {
        __syncthreads();  // EXPECT divergence
    } else {
        __syncthreads();
    }
    out[threadIdx.x] = 1;
}

int main() {
    float* out;
    hipMalloc(&out, 64 * sizeof(float));
    branches<<<1, 64>>>(out);
    return 0;
}
