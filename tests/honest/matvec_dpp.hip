// problem: matrix-vector
// CDNA style: DPP row reduction, readlane, v_rcp
#include <hip/hip_runtime.h>
template <int ctrl> __device__ __forceinline__ float dpp_add(float x) {
    int moved = __builtin_amdgcn_update_dpp(0, __float_as_int(x), ctrl, 0xf, 0xf, true);
    return x + __int_as_float(moved);
}
__device__ __forceinline__ float wave_sum(float x) {
    x = dpp_add<0x111>(x);  // row_shr:1
    x = dpp_add<0x112>(x);
    x = dpp_add<0x114>(x);
    x = dpp_add<0x118>(x);
    x = dpp_add<0x142>(x);  // row_bcast:15
    x = dpp_add<0x143>(x);  // row_bcast:31
    return __int_as_float(__builtin_amdgcn_readlane(__float_as_int(x), 63));
}
__global__ __launch_bounds__(256) void gemv(const float* A, const float* x, float* y, int M, int K) {
    int row = blockIdx.x * 4 + __builtin_amdgcn_readfirstlane(threadIdx.x / 64);
    if (row >= M) return;
    float acc = 0;
    for (int k = __lane_id(); k < K; k += __AMDGCN_WAVEFRONT_SIZE) acc = fmaf(A[(size_t)row * K + k], x[k], acc);
    __builtin_amdgcn_sched_barrier(0);
    acc = wave_sum(acc);
    if (__lane_id() == 0) y[row] = acc;
}
extern "C" void solution(const float* input_a, const float* input_b, float* output_c, size_t m, size_t k) {
    hipLaunchKernelGGL(gemv, dim3((m + 3) / 4), dim3(256), 0, 0, input_a, input_b, output_c, (int)m, (int)k);
}
