// The 8-bit floating-point types: OCP's E4M3 and E5M2, and the MI300X's own, which end in fnuz.
#pragma once

#include "hip/hip_bf16.h"
#include "hip/hip_fp16.h"
#include "hip/hip_runtime.h"
#include "wavepool/math/fp8_codes.h"

#define WP_FN __host__ __device__ __forceinline__

typedef unsigned char __hip_fp8_storage_t;
typedef unsigned short __hip_fp8x2_storage_t;
typedef unsigned __hip_fp8x4_storage_t;

template <__hip_fp8_interpretation_t KIND> struct wp_fp8 {
    __hip_fp8_storage_t __x;
    wp_fp8() = default;
    WP_FN wp_fp8(float value) : __x(wp_fp8_encode(value, __HIP_SATFINITE, KIND)) {}
    WP_FN wp_fp8(double value) : wp_fp8(float(value)) {}
    WP_FN wp_fp8(__half value) : wp_fp8(float(value)) {}
    WP_FN explicit wp_fp8(_Float16 value) : wp_fp8(float(value)) {}
    template <class I, std::enable_if_t<std::is_integral<I>::value, int> = 0>
    WP_FN wp_fp8(I value) : wp_fp8(float(value)) {}
    WP_FN operator float() const { return wp_fp8_decode(__x, KIND); }
    WP_FN explicit operator double() const { return float(*this); }
    WP_FN explicit operator __half() const { return float(*this); }
    WP_FN explicit operator bool() const { return float(*this) != 0.0f; }
    template <class I, std::enable_if_t<std::is_integral<I>::value && !std::is_same<I, bool>::value, int> = 0>
    WP_FN explicit operator I() const { return I(float(*this)); }
};
// Structures of their own, as sources declare them before they include this.
#define WP_FP8(NAME, KIND)           \
    struct NAME : wp_fp8<KIND> {     \
        NAME() = default;            \
        using wp_fp8<KIND>::wp_fp8;  \
    };
WP_FP8(__hip_fp8_e4m3, __HIP_E4M3)
WP_FP8(__hip_fp8_e5m2, __HIP_E5M2)
WP_FP8(__hip_fp8_e4m3_fnuz, __HIP_E4M3_FNUZ)
WP_FP8(__hip_fp8_e5m2_fnuz, __HIP_E5M2_FNUZ)
#undef WP_FP8

template <__hip_fp8_interpretation_t KIND> struct wp_fp8x2 {
    __hip_fp8x2_storage_t __x;
    wp_fp8x2() = default;
    WP_FN explicit wp_fp8x2(float2 v)
        : __x(__hip_fp8x2_storage_t(wp_fp8<KIND>(v.x).__x | wp_fp8<KIND>(v.y).__x << 8)) {}
    WP_FN operator float2() const {
        return {wp_fp8_decode((unsigned char)__x, KIND), wp_fp8_decode((unsigned char)(__x >> 8), KIND)};
    }
};
typedef wp_fp8x2<__HIP_E4M3> __hip_fp8x2_e4m3;
typedef wp_fp8x2<__HIP_E5M2> __hip_fp8x2_e5m2;
typedef wp_fp8x2<__HIP_E4M3_FNUZ> __hip_fp8x2_e4m3_fnuz;
typedef wp_fp8x2<__HIP_E5M2_FNUZ> __hip_fp8x2_e5m2_fnuz;

template <__hip_fp8_interpretation_t KIND> struct wp_fp8x4 {
    __hip_fp8x4_storage_t __x;
    wp_fp8x4() = default;
    WP_FN explicit wp_fp8x4(float4 v)
        : __x(wp_fp8x2<KIND>(float2{v.x, v.y}).__x | unsigned(wp_fp8x2<KIND>(float2{v.z, v.w}).__x) << 16) {}
    WP_FN operator float4() const {
        return {wp_fp8_decode((unsigned char)__x, KIND), wp_fp8_decode((unsigned char)(__x >> 8), KIND),
                wp_fp8_decode((unsigned char)(__x >> 16), KIND), wp_fp8_decode((unsigned char)(__x >> 24), KIND)};
    }
};
typedef wp_fp8x4<__HIP_E4M3> __hip_fp8x4_e4m3;
typedef wp_fp8x4<__HIP_E5M2> __hip_fp8x4_e5m2;
typedef wp_fp8x4<__HIP_E4M3_FNUZ> __hip_fp8x4_e4m3_fnuz;
typedef wp_fp8x4<__HIP_E5M2_FNUZ> __hip_fp8x4_e5m2_fnuz;

WP_FN __hip_fp8_storage_t __hip_cvt_float_to_fp8(float x, __hip_saturation_t saturation,
                                                 __hip_fp8_interpretation_t kind) {
    return wp_fp8_encode(x, saturation, kind);
}
WP_FN __hip_fp8_storage_t __hip_cvt_double_to_fp8(double x, __hip_saturation_t saturation,
                                                  __hip_fp8_interpretation_t kind) {
    return wp_fp8_encode(float(x), saturation, kind);
}
WP_FN __hip_fp8_storage_t __hip_cvt_halfraw_to_fp8(__half_raw x, __hip_saturation_t saturation,
                                                   __hip_fp8_interpretation_t kind) {
    return wp_fp8_encode(float(__half(x)), saturation, kind);
}
WP_FN __hip_fp8x2_storage_t __hip_cvt_float2_to_fp8x2(float2 v, __hip_saturation_t saturation,
                                                      __hip_fp8_interpretation_t kind) {
    return __hip_fp8x2_storage_t(wp_fp8_encode(v.x, saturation, kind) | wp_fp8_encode(v.y, saturation, kind) << 8);
}
WP_FN __hip_fp8x2_storage_t __hip_cvt_double2_to_fp8x2(double2 v, __hip_saturation_t saturation,
                                                       __hip_fp8_interpretation_t kind) {
    return __hip_cvt_float2_to_fp8x2(float2{float(v.x), float(v.y)}, saturation, kind);
}
WP_FN __hip_fp8x2_storage_t __hip_cvt_halfraw2_to_fp8x2(__half2_raw v, __hip_saturation_t saturation,
                                                        __hip_fp8_interpretation_t kind) {
    return __hip_cvt_float2_to_fp8x2(float2{float(v.x.data), float(v.y.data)}, saturation, kind);
}
WP_FN __hip_fp8_storage_t __hip_cvt_bfloat16raw_to_fp8(__hip_bfloat16_raw x, __hip_saturation_t saturation,
                                                       __hip_fp8_interpretation_t kind) {
    return wp_fp8_encode(float(__hip_bfloat16(x)), saturation, kind);
}
WP_FN __hip_fp8x2_storage_t __hip_cvt_bfloat16raw2_to_fp8x2(__hip_bfloat162_raw v, __hip_saturation_t saturation,
                                                            __hip_fp8_interpretation_t kind) {
    return __hip_fp8x2_storage_t(__hip_cvt_bfloat16raw_to_fp8({v.x}, saturation, kind) |
                                 __hip_cvt_bfloat16raw_to_fp8({v.y}, saturation, kind) << 8);
}
WP_FN __half2_raw __hip_cvt_fp8x2_to_halfraw2(__hip_fp8x2_storage_t x, __hip_fp8_interpretation_t kind) {
    return {{_Float16(wp_fp8_decode((unsigned char)x, kind))}, {_Float16(wp_fp8_decode((unsigned char)(x >> 8), kind))}};
}
WP_FN __half_raw __hip_cvt_fp8_to_halfraw(__hip_fp8_storage_t x, __hip_fp8_interpretation_t kind) {
    return __half(wp_fp8_decode(x, kind));
}
