// The functions that the GPU has instructions for, with which it is fast and inexact.
#pragma once

#include <cmath>

#include "wavepool/qualifiers.h"

#define WP_FN __device__ __forceinline__
#define WP_PER_TURN 0.15915494309189533577f
WP_FN float __sinf(float x) { return __builtin_amdgcn_sinf(__builtin_amdgcn_fractf(x * WP_PER_TURN)); }
WP_FN float __cosf(float x) { return __builtin_amdgcn_cosf(__builtin_amdgcn_fractf(x * WP_PER_TURN)); }
WP_FN float __tanf(float x) { return __sinf(x) * __builtin_amdgcn_rcpf(__cosf(x)); }
WP_FN void __sincosf(float x, float* s, float* c) { *s = __sinf(x), *c = __cosf(x); }
WP_FN float __expf(float x) { return __builtin_amdgcn_exp2f(x * 1.44269504088896340736f); }
WP_FN float __exp10f(float x) { return __builtin_amdgcn_exp2f(x * 3.32192809488736234787f); }
WP_FN float __log2f(float x) { return __builtin_amdgcn_logf(x); }
WP_FN float __logf(float x) { return __builtin_amdgcn_logf(x) * 0.69314718055994530942f; }
WP_FN float __log10f(float x) { return __builtin_amdgcn_logf(x) * 0.30102999566398119521f; }
WP_FN float __powf(float x, float y) { return __builtin_amdgcn_exp2f(y * __builtin_amdgcn_logf(x)); }
WP_FN float __tanhf(float x) { return 1.0f - 2.0f * __builtin_amdgcn_rcpf(__expf(2.0f * x) + 1.0f); }
#undef WP_PER_TURN
#undef WP_FN
