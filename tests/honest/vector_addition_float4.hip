// problem: vector-addition
// float4 loads with a scalar tail, __launch_bounds__, hipLaunchKernelGGL.
#include <hip/hip_runtime.h>

#define BLOCK 256

__global__ __launch_bounds__(BLOCK) void add_vec4(const float4* __restrict__ a, const float4* __restrict__ b,
                                                  float4* __restrict__ c, int n4) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n4) return;
    float4 x = a[i], y = b[i];
    x.x += y.x; x.y += y.y; x.z += y.z; x.w += y.w;
    c[i] = x;
}

__global__ void add_tail(const float* a, const float* b, float* c, int start, int n) {
    int i = start + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

static bool aligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % sizeof(float4) == 0; }

extern "C" void solution(const float* d_input1, const float* d_input2, float* d_output, size_t n) {
    int n4 = 0;
    if (aligned(d_input1) && aligned(d_input2) && aligned(d_output)) n4 = n / 4;
    if (n4 > 0)
        hipLaunchKernelGGL(add_vec4, dim3((n4 + BLOCK - 1) / BLOCK), dim3(BLOCK), 0, 0,
                           reinterpret_cast<const float4*>(d_input1), reinterpret_cast<const float4*>(d_input2),
                           reinterpret_cast<float4*>(d_output), n4);
    for (int start = 4 * n4; start < (int)n; start += 1024)
        hipLaunchKernelGGL(add_tail, dim3(1), dim3(1024), 0, 0, d_input1, d_input2, d_output, start, (int)n);
}
