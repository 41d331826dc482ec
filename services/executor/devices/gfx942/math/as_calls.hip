// The C library's mathematics where no device library is there: what has no instruction is an opaque call that uses no
// registers of its own. The assembly names it, so that the report can say which figures are lower bounds.
#include "functions.h"

#define WP_MARK(NAME, ...) asm("; wavepool-call " #NAME : "=v"(result) : __VA_ARGS__)
#define WP_CALL1_OF(NAME, T)  \
    WP_C T NAME(T x) {        \
        T result;             \
        WP_MARK(NAME, "v"(x)); \
        return result;        \
    }
#define WP_CALL2_OF(NAME, T)           \
    WP_C T NAME(T x, T y) {            \
        T result;                      \
        WP_MARK(NAME, "v"(x), "v"(y)); \
        return result;                 \
    }
#define WP_CALL1(NAME) WP_CALL1_OF(NAME##f, float) WP_CALL1_OF(NAME, double)
#define WP_CALL2(NAME) WP_CALL2_OF(NAME##f, float) WP_CALL2_OF(NAME, double)
#define WP_CALL1_DOUBLE(NAME) WP_CALL1_OF(NAME, double)
WP_UNARY(WP_CALL1)
WP_BINARY(WP_CALL2)
WP_UNARY_OF_DOUBLE(WP_CALL1_DOUBLE)

WP_C void sincosf(float x, float* s, float* c) { *s = sinf(x), *c = cosf(x); }
WP_C void sincos(double x, double* s, double* c) { *s = sin(x), *c = cos(x); }
