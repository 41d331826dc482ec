// Single and double complex numbers as float2 and double2.
#pragma once

#include "hip/hip_runtime.h"

typedef float2 hipFloatComplex;
typedef float2 hipComplex;
typedef double2 hipDoubleComplex;

#define WP_COMPLEX(T, V, SUFFIX)                                                                                 \
    __host__ __device__ inline V make_hip##SUFFIX(T x, T y) { return {x, y}; }
WP_COMPLEX(float, float2, FloatComplex)
WP_COMPLEX(float, float2, Complex)
WP_COMPLEX(double, double2, DoubleComplex)
#undef WP_COMPLEX

#define WP_COMPLEX(T, V, SUFFIX)                                                                                 \
    __host__ __device__ inline T hipCreal##SUFFIX(V a) { return a.x; }                                           \
    __host__ __device__ inline T hipCimag##SUFFIX(V a) { return a.y; }                                           \
    __host__ __device__ inline V hipConj##SUFFIX(V a) { return {a.x, -a.y}; }                                    \
    __host__ __device__ inline T hipCsqabs##SUFFIX(V a) { return a.x * a.x + a.y * a.y; }                        \
    __host__ __device__ inline V hipCadd##SUFFIX(V a, V b) { return {a.x + b.x, a.y + b.y}; }                    \
    __host__ __device__ inline V hipCsub##SUFFIX(V a, V b) { return {a.x - b.x, a.y - b.y}; }                    \
    __host__ __device__ inline V hipCmul##SUFFIX(V a, V b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; } \
    __host__ __device__ inline V hipCdiv##SUFFIX(V a, V b) {                                                     \
        T s = hipCsqabs##SUFFIX(b);                                                                              \
        return {(a.x * b.x + a.y * b.y) / s, (a.y * b.x - a.x * b.y) / s};                                       \
    }                                                                                                            \
    __host__ __device__ inline V hipCfma##SUFFIX(V a, V b, V c) {                                                \
        return {a.x * b.x + c.x - a.y * b.y, b.x * a.y + c.y + a.x * b.y};                                       \
    }                                                                                                            \
    __host__ __device__ inline T hipCabs##SUFFIX(V a) { return std::hypot(a.x, a.y); }
WP_COMPLEX(float, float2, f)
WP_COMPLEX(double, double2, )
#undef WP_COMPLEX
__host__ __device__ inline float2 hipComplexDoubleToFloat(double2 a) { return {float(a.x), float(a.y)}; }
__host__ __device__ inline double2 hipComplexFloatToDouble(float2 a) { return {a.x, a.y}; }
