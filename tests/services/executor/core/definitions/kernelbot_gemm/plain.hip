#include <hip/hip_bf16.h>
#include <hip/hip_fp8.h>
#include <hip/hip_runtime.h>

// All matrices but `c` are column-major, as they lie in memory.
__global__ void gemm(const __hip_fp8_e4m3_fnuz* a, const __hip_fp8_e4m3_fnuz* b, const float* a_scale,
                     const float* b_scale, __hip_bfloat16* c, int m, int n, int k) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || column >= n) return;
    const int groups = (n + 127) / 128;
    float sum = 0;
    for (int block = 0; block < k / 128; ++block) {
        float part = 0;
        for (int at = block * 128; at < (block + 1) * 128; ++at) part += (float)a[at * m + row] * (float)b[at * n + column];
        sum += part * a_scale[block * m + row] * b_scale[block * groups + column / 128];
    }
    c[(size_t)row * n + column] = (__hip_bfloat16)sum;
}

extern "C" void solution(const __hip_fp8_e4m3_fnuz* a, const __hip_fp8_e4m3_fnuz* b, const float* a_scale,
                         const float* b_scale, __hip_bfloat16* c, int m, int n, int k) {
    gemm<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(a, b, a_scale, b_scale, c, m, n, k);
}
