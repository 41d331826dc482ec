// CUDA's 4-bit floating-point type E2M1: values 0, 0.5, 1, 1.5, 2, 3, 4 and 6 with a sign, conversions that saturate.
#pragma once
#include <cuda_fp8.h>

#define WP_FN __host__ __device__ __forceinline__
typedef unsigned char __nv_fp4_storage_t;
typedef unsigned char __nv_fp4x2_storage_t;
typedef unsigned short __nv_fp4x4_storage_t;
enum __nv_fp4_interpretation_t { __NV_E2M1 = 0 };
enum cudaRoundMode { cudaRoundNearest, cudaRoundZero, cudaRoundPosInf, cudaRoundMinInf };

// To the nearest value, ties to the even code; NaN becomes the largest number, as NVIDIA's conversion has it.
WP_FN __nv_fp4_storage_t __nv_cvt_float_to_fp4(float x, __nv_fp4_interpretation_t, cudaRoundMode) {
    float size = fabsf(x);
    int code = !(size <= 5.0f) ? 7 : size >= 3.5f ? 6 : size > 2.5f ? 5 : size >= 1.75f ? 4 : size > 1.25f ? 3
             : size >= 0.75f ? 2 : size > 0.25f ? 1 : 0;
    return __nv_fp4_storage_t(code | (x == x && signbit(x) ? 8 : 0));
}
WP_FN __nv_fp4_storage_t __nv_cvt_double_to_fp4(double x, __nv_fp4_interpretation_t kind, cudaRoundMode mode) {
    return __nv_cvt_float_to_fp4(float(x), kind, mode);
}
WP_FN __nv_fp4x2_storage_t __nv_cvt_float2_to_fp4x2(float2 v, __nv_fp4_interpretation_t kind, cudaRoundMode mode) {
    return __nv_fp4x2_storage_t(__nv_cvt_float_to_fp4(v.x, kind, mode) | __nv_cvt_float_to_fp4(v.y, kind, mode) << 4);
}
WP_FN __nv_fp4x2_storage_t __nv_cvt_halfraw2_to_fp4x2(__half2 v, __nv_fp4_interpretation_t kind, cudaRoundMode mode) {
    return __nv_cvt_float2_to_fp4x2(__half22float2(v), kind, mode);
}
WP_FN float wp_fp4_decode(unsigned code) {
    constexpr float values[8] = {0.0f, 0.5f, 1.0f, 1.5f, 2.0f, 3.0f, 4.0f, 6.0f};
    return code & 8 ? -values[code & 7] : values[code & 7];
}
WP_FN __half_raw __nv_cvt_fp4_to_halfraw(__nv_fp4_storage_t x, __nv_fp4_interpretation_t) {
    return __half(wp_fp4_decode(x & 15));
}
WP_FN __half2 __nv_cvt_fp4x2_to_halfraw2(__nv_fp4x2_storage_t x, __nv_fp4_interpretation_t) {
    return {wp_fp4_decode(x & 15), wp_fp4_decode(x >> 4)};
}

struct __nv_fp4_e2m1 {
    __nv_fp4_storage_t __x;
    __nv_fp4_e2m1() = default;
    WP_FN explicit __nv_fp4_e2m1(float x) : __x(__nv_cvt_float_to_fp4(x, __NV_E2M1, cudaRoundNearest)) {}
    WP_FN explicit operator float() const { return wp_fp4_decode(__x & 15); }
};
struct __nv_fp4x2_e2m1 {
    __nv_fp4x2_storage_t __x;
    __nv_fp4x2_e2m1() = default;
    WP_FN explicit __nv_fp4x2_e2m1(float2 v) : __x(__nv_cvt_float2_to_fp4x2(v, __NV_E2M1, cudaRoundNearest)) {}
    WP_FN explicit operator float2() const { return {wp_fp4_decode(__x & 15), wp_fp4_decode(__x >> 4)}; }
};
#undef WP_FN
