// The functions of the C library's mathematics that GPU code calls, and how AMD's device library (ocml) names them.
#pragma once

// X(name in C for double, its type's letter in ocml)
#define WP_UNARY(X)                                                                                              \
    X(acos) X(acosh) X(asin) X(asinh) X(atan) X(atanh) X(cbrt) X(cos) X(cosh) X(erf) X(erfc) X(expm1) X(j0) X(j1)  \
    X(lgamma) X(log1p) X(logb) X(sin) X(sinh) X(tan) X(tanh) X(tgamma) X(y0) X(y1)
#define WP_BINARY(X) X(atan2) X(fmod) X(hypot) X(nextafter) X(pow) X(remainder)
// These have no instruction in double precision alone.
#define WP_UNARY_OF_DOUBLE(X) X(exp) X(exp2) X(exp10) X(log) X(log2) X(log10)
// Instructions, or a few of them that the compiler knows, in both precisions.
#define WP_UNARY_BUILTIN(X) X(sqrt) X(nearbyint)
#define WP_UNARY_BUILTIN_OF_FLOAT(X) X(exp) X(exp2) X(exp10) X(log) X(log2) X(log10)

#define WP_C extern "C" __attribute__((device))

#define WP_BUILTIN(NAME)                                                   \
    WP_C float NAME##f(float x) { return __builtin_##NAME##f(x); }         \
    WP_C double NAME(double x) { return __builtin_##NAME(x); }
WP_UNARY_BUILTIN(WP_BUILTIN)
#undef WP_BUILTIN
#define WP_BUILTIN(NAME) WP_C float NAME##f(float x) { return __builtin_##NAME##f(x); }
WP_UNARY_BUILTIN_OF_FLOAT(WP_BUILTIN)
#undef WP_BUILTIN

WP_C float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
WP_C double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
WP_C float fdimf(float x, float y) { return x > y ? x - y : 0.0f; }
WP_C double fdim(double x, double y) { return x > y ? x - y : 0.0; }
WP_C float ldexpf(float x, int n) { return __builtin_ldexpf(x, n); }
WP_C double ldexp(double x, int n) { return __builtin_ldexp(x, n); }
WP_C float scalbnf(float x, int n) { return __builtin_ldexpf(x, n); }
WP_C double scalbn(double x, int n) { return __builtin_ldexp(x, n); }
WP_C float frexpf(float x, int* n) { return __builtin_frexpf(x, n); }
WP_C double frexp(double x, int* n) { return __builtin_frexp(x, n); }
WP_C long lrintf(float x) { return (long)__builtin_rintf(x); }
WP_C long lrint(double x) { return (long)__builtin_rint(x); }
WP_C long long llrintf(float x) { return (long long)__builtin_rintf(x); }
WP_C long long llrint(double x) { return (long long)__builtin_rint(x); }
WP_C long lroundf(float x) { return (long)__builtin_roundf(x); }
WP_C long lround(double x) { return (long)__builtin_round(x); }
WP_C long long llroundf(float x) { return (long long)__builtin_roundf(x); }
WP_C long long llround(double x) { return (long long)__builtin_round(x); }
WP_C float modff(float x, float* whole) { return *whole = __builtin_truncf(x), x - *whole; }
WP_C double modf(double x, double* whole) { return *whole = __builtin_trunc(x), x - *whole; }
