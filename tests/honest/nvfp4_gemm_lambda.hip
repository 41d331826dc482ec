// problem: nvfp4-gemm
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
#include <hip/hip_fp8.h>
typedef uint8_t float8;
typedef _Float16 float16_t_;
__device__ inline float dec(float8 x) { return __half2float(__hip_cvt_fp8_to_halfraw(x, __HIP_E4M3)); }
__device__ inline float f4(int c) { constexpr float t[] = {0, .5, 1, 1.5, 2, 3, 4, 6}; float v = t[c & 7]; return c & 8 ? -v : v; }
__global__ void gemm(const uint8_t* qa, const float8* sa, float ga, const uint8_t* qb, const float8* sb, float gb, _Float16* c, size_t m, size_t n, size_t k) {
    __shared__ float A[16][33], B[16][33];
    size_t i0 = blockIdx.y * 16, j0 = blockIdx.x * 16, blocks = k / 16;
    int tx = threadIdx.x, ty = threadIdx.y;
    float acc = 0;
    auto get = [&](const uint8_t* q, const float8* s, size_t r, size_t col) {
        size_t b = col / 16;
        uint8_t byte = q[(r * k + col) / 2];
        return f4(col & 1 ? byte >> 4 : byte & 15) * dec(s[((r / 128) * ((blocks + 3) / 4) + b / 4) * 512 + (r % 32) * 16 + (r % 128) / 32 * 4 + b % 4]);
    };
    for (size_t l = 0; l < k; l += 32) {
        for (int h = 0; h < 2; h++) {
            A[ty][tx + 16 * h] = i0 + ty < m ? get(qa, sa, i0 + ty, l + tx + 16 * h) : 0;
            B[ty][tx + 16 * h] = j0 + ty < n ? get(qb, sb, j0 + ty, l + tx + 16 * h) : 0;
        }
        __syncthreads();
        for (int x = 0; x < 32; x++) acc += A[ty][x] * B[tx][x];
        __syncthreads();
    }
    if (i0 + ty < m && j0 + tx < n) c[(i0 + ty) * n + j0 + tx] = (_Float16)(acc / ga / gb);
}
extern "C" void solution(const uint8_t* q_a, const float8* scale_a, const float sf_g_a, const uint8_t* q_b, const float8* scale_b, const float sf_g_b, __half* c, size_t m, size_t n, size_t k) {
    gemm<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(q_a, scale_a, sf_g_a, q_b, scale_b, sf_g_b, (_Float16*)c, m, n, k);
    hipDeviceSynchronize();
}
