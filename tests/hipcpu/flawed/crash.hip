// What was found before the end is told, and the end as well.
#include <hip/hip_runtime.h>

__global__ void wild(float* out, const float* nothing) {
    out[threadIdx.x] = 1;
    out[64 + threadIdx.x] = 2;  // EXPECT out-of-bounds write
    out[0] = nothing[threadIdx.x];  // EXPECT null-pointer read
}

int main() {
    float* out;
    hipMalloc(&out, 64 * sizeof(float));
    wild<<<1, 64>>>(out, nullptr);
    return 0;
}
