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
    __host__ __device__ inline V hipCadd##SUFFIX(V a, V b) { return {a.x + b.x, a.y + b.y}; }                    \
    __host__ __device__ inline V hipCsub##SUFFIX(V a, V b) { return {a.x - b.x, a.y - b.y}; }                    \
    __host__ __device__ inline V hipCmul##SUFFIX(V a, V b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; } \
    __host__ __device__ inline V hipCdiv##SUFFIX(V a, V b) {                                                     \
        T s = b.x * b.x + b.y * b.y;                                                                             \
        return {(a.x * b.x + a.y * b.y) / s, (a.y * b.x - a.x * b.y) / s};                                       \
    }                                                                                                            \
    __host__ __device__ inline T hipCabs##SUFFIX(V a) { return std::hypot(a.x, a.y); }
WP_COMPLEX(float, float2, f)
WP_COMPLEX(double, double2, )
#undef WP_COMPLEX
