#pragma once
#include <cuda_runtime.h>
#include <hip/hip_bf16.h>
typedef __hip_bfloat16 __nv_bfloat16;
typedef __hip_bfloat16 nv_bfloat16;
typedef __hip_bfloat162 __nv_bfloat162;
typedef __hip_bfloat162 nv_bfloat162;
#define CUDART_INF_BF16 HIPRT_INF_BF16
#define CUDART_NAN_BF16 HIPRT_NAN_BF16
#define CUDART_MAX_NORMAL_BF16 HIPRT_MAX_NORMAL_BF16
#define CUDART_ONE_BF16 HIPRT_ONE_BF16
#define CUDART_ZERO_BF16 HIPRT_ZERO_BF16
