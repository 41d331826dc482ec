// The formats of 8 bits that both makers have. MI300X's own (`fnuz`) have no counterpart, and are undeclared names.
#pragma once
#include <cuda_fp8.h>
#include <hip/hip_fp16.h>

#define __HIP_E4M3 __NV_E4M3
#define __HIP_E5M2 __NV_E5M2
#define __HIP_NOSAT __NV_NOSAT
#define __HIP_SATFINITE __NV_SATFINITE
#define __hip_cvt_bfloat16raw_to_fp8 __nv_cvt_bfloat16raw_to_fp8
#define __hip_cvt_double_to_fp8 __nv_cvt_double_to_fp8
#define __hip_cvt_float2_to_fp8x2 __nv_cvt_float2_to_fp8x2
#define __hip_cvt_float_to_fp8 __nv_cvt_float_to_fp8
#define __hip_cvt_fp8_to_halfraw __nv_cvt_fp8_to_halfraw
#define __hip_cvt_fp8x2_to_halfraw2 __nv_cvt_fp8x2_to_halfraw2
#define __hip_cvt_halfraw2_to_fp8x2 __nv_cvt_halfraw2_to_fp8x2
#define __hip_cvt_halfraw_to_fp8 __nv_cvt_halfraw_to_fp8
#define __hip_fp8_interpretation_t __nv_fp8_interpretation_t
#define __hip_fp8_storage_t __nv_fp8_storage_t
#define __hip_fp8x2_storage_t __nv_fp8x2_storage_t
#define __hip_fp8x4_storage_t __nv_fp8x4_storage_t
#define __hip_saturation_t __nv_saturation_t

using __hip_fp8_e4m3 = __nv_fp8_e4m3;
using __hip_fp8_e5m2 = __nv_fp8_e5m2;
using __hip_fp8x2_e4m3 = __nv_fp8x2_e4m3;
using __hip_fp8x2_e5m2 = __nv_fp8x2_e5m2;
using __hip_fp8x4_e4m3 = __nv_fp8x4_e4m3;
using __hip_fp8x4_e5m2 = __nv_fp8x4_e5m2;
