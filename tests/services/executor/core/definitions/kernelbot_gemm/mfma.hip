#include <hip/hip_bf16.h>
#include <hip/hip_fp8.h>
#include <hip/hip_runtime.h>

using floatx4 = __attribute__((ext_vector_type(4))) float;

// Eight elements of the common dimension, from `at` on, of one row or column.
__device__ long fragment(const unsigned char* matrix, int at, int rows, int row) {
    unsigned long eight = 0;
    for (int byte = 0; byte < 8; ++byte) eight |= (unsigned long)matrix[(at + byte) * rows + row] << (8 * byte);
    return (long)eight;
}

// A wavefront makes 16 x 16 of `c`: lane l has row or column l % 16 and elements 8 * (l / 16) of 32, and gets four rows
// of column l % 16.
__global__ void gemm(const unsigned char* a, const unsigned char* b, const float* a_scale, const float* b_scale,
                     __hip_bfloat16* c, int m, int n, int k) {
    const int lane = threadIdx.x % 16, quarter = threadIdx.x / 16;
    const int row = blockIdx.y * 16, column = blockIdx.x * 16, groups = (n + 127) / 128;
    float sum[4] = {};
    for (int block = 0; block < k / 128; ++block) {
        floatx4 part = {};
        for (int at = block * 128; at < (block + 1) * 128; at += 32) {
            const int first = at + 8 * quarter;
            part = __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(fragment(a, first, m, row + lane),
                                                              fragment(b, first, n, column + lane), part, 0, 0, 0);
        }
        const float of_columns = b_scale[block * groups + column / 128];
        for (int at = 0; at < 4; ++at) sum[at] += part[at] * a_scale[block * m + row + 4 * quarter + at] * of_columns;
    }
    for (int at = 0; at < 4; ++at) c[(size_t)(row + 4 * quarter + at) * n + column + lane] = (__hip_bfloat16)sum[at];
}

extern "C" void solution(const __hip_fp8_e4m3_fnuz* a, const __hip_fp8_e4m3_fnuz* b, const float* a_scale,
                         const float* b_scale, __hip_bfloat16* c, int m, int n, int k) {
    gemm<<<dim3(n / 16, m / 16), 64>>>((const unsigned char*)a, (const unsigned char*)b, a_scale, b_scale, c, m, n, k);
}
