// The functions that a GPU has instructions for, with which it is fast and inexact.
#pragma once

#include <cmath>

#include "wavepool/qualifiers.h"

#define WP_FN __host__ __device__ __forceinline__

// The fast forms are as exact as the plain ones here.
WP_FN float __expf(float x) { return expf(x); }
WP_FN float __exp10f(float x) { return exp10f(x); }
WP_FN float __logf(float x) { return logf(x); }
WP_FN float __log2f(float x) { return log2f(x); }
WP_FN float __log10f(float x) { return log10f(x); }
WP_FN float __powf(float x, float y) { return powf(x, y); }
WP_FN float __sinf(float x) { return sinf(x); }
WP_FN float __cosf(float x) { return cosf(x); }
WP_FN float __tanf(float x) { return tanf(x); }
WP_FN float __tanhf(float x) { return tanhf(x); }
WP_FN void __sincosf(float x, float* s, float* c) { *s = sinf(x), *c = cosf(x); }
#undef WP_FN
