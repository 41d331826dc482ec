// The C library's mathematics on top of AMD's device library, whose bitcode is linked in when this is compiled.
#include "functions.h"

#define WP_OCML1(NAME)                                                     \
    WP_C float __ocml_##NAME##_f32(float);                                 \
    WP_C double __ocml_##NAME##_f64(double);                               \
    WP_C float NAME##f(float x) { return __ocml_##NAME##_f32(x); }         \
    WP_C double NAME(double x) { return __ocml_##NAME##_f64(x); }
WP_UNARY(WP_OCML1)

#define WP_OCML1_DOUBLE(NAME)                \
    WP_C double __ocml_##NAME##_f64(double); \
    WP_C double NAME(double x) { return __ocml_##NAME##_f64(x); }
WP_UNARY_OF_DOUBLE(WP_OCML1_DOUBLE)

#define WP_OCML2(NAME)                                                                   \
    WP_C float __ocml_##NAME##_f32(float, float);                                        \
    WP_C double __ocml_##NAME##_f64(double, double);                                     \
    WP_C float NAME##f(float x, float y) { return __ocml_##NAME##_f32(x, y); }           \
    WP_C double NAME(double x, double y) { return __ocml_##NAME##_f64(x, y); }
WP_BINARY(WP_OCML2)

WP_C void sincosf(float x, float* s, float* c) { *s = sinf(x), *c = cosf(x); }
WP_C void sincos(double x, double* s, double* c) { *s = sin(x), *c = cos(x); }
