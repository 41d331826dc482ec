// Inverses of the error functions and of the normal distribution, and the modified Bessel functions of orders 0 and 1.
#pragma once

#include <cmath>

#include "wavepool/qualifiers.h"

#define WP_FN __host__ __device__ __forceinline__

// a[0] + a[1] x + ... + a[7] x^7
WP_FN double wp_polynomial(const double (&a)[8], double x) {
    double sum = a[7];
    for (int i = 6; i >= 0; --i) sum = __builtin_fma(sum, x, a[i]);
    return sum;
}

// The x with P(X <= x) = 1/2 + q for a normal X. `tail` is 1/2 - |q|, given apart so that it keeps all of its digits
// near 0. Rational approximations of M. Wichura, Algorithm AS 241 (Applied Statistics 37, 1988), PPND16: about 1e-16.
WP_FN double wp_normal_quantile(double q, double tail) {
    if (__builtin_fabs(q) <= 0.425) {
        constexpr double above[8] = {3.3871328727963666080e0,  1.3314166789178437745e+2, 1.9715909503065514427e+3,
                                     1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
                                     3.3430575583588128105e+4, 2.5090809287301226727e+3};
        constexpr double below[8] = {1.0,                      4.2313330701600911252e+1, 6.8718700749205790830e+2,
                                     5.3941960214247511077e+3, 2.1213794301586595867e+4, 3.9307895800092710610e+4,
                                     2.8729085735721942674e+4, 5.2264952788528545610e+3};
        double r = 0.180625 - q * q;
        return q * wp_polynomial(above, r) / wp_polynomial(below, r);
    }
    double r = __builtin_sqrt(-log(tail)), x;
    if (r <= 5.0) {
        constexpr double above[8] = {1.42343711074968357734e0,  4.63033784615654529590e0,  5.76949722146069140550e0,
                                     3.64784832476320460504e0,  1.27045825245236838258e0,  2.41780725177450611770e-1,
                                     2.27238449892691845833e-2, 7.74545014278341407640e-4};
        constexpr double below[8] = {1.0,                       2.05319162663775882187e0,  1.67638483018380384940e0,
                                     6.89767334985100004550e-1, 1.48103976427480074590e-1, 1.51986665636164571966e-2,
                                     5.47593808499534494600e-4, 1.05075007164441684324e-9};
        x = wp_polynomial(above, r - 1.6) / wp_polynomial(below, r - 1.6);
    } else {
        constexpr double above[8] = {6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,
                                     2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                     2.71155556874348757815e-5, 2.01033439929228813265e-7};
        constexpr double below[8] = {1.0,                       5.99832206555887937690e-1, 1.36929880922735805310e-1,
                                     1.48753612908506148525e-2, 7.86869131145613259100e-4, 1.84631831751005468180e-5,
                                     1.42151175831644588870e-7, 2.04426310338993978564e-15};
        x = wp_polynomial(above, r - 5.0) / wp_polynomial(below, r - 5.0);
    }
    return q < 0.0 ? -x : x;
}

WP_FN double normcdfinv(double p) {
    if (!(p >= 0.0 && p <= 1.0)) return __builtin_nan("");
    if (p == 0.0 || p == 1.0) return p == 0.0 ? -__builtin_inf() : __builtin_inf();
    return wp_normal_quantile(p - 0.5, p < 0.5 ? p : 1.0 - p);
}
WP_FN double erfinv(double x) {
    double size = __builtin_fabs(x);
    if (!(size <= 1.0)) return __builtin_nan("");
    if (size == 1.0) return __builtin_copysign(__builtin_inf(), x);
    return wp_normal_quantile(0.5 * x, 0.5 - 0.5 * size) * 0.70710678118654752440;
}
WP_FN double erfcinv(double x) {
    if (!(x >= 0.0 && x <= 2.0)) return __builtin_nan("");
    if (x == 0.0 || x == 2.0) return x == 0.0 ? __builtin_inf() : -__builtin_inf();
    return wp_normal_quantile(0.5 - 0.5 * x, 0.5 * (x < 1.0 ? x : 2.0 - x)) * 0.70710678118654752440;
}
WP_FN float normcdfinvf(float p) { return float(normcdfinv(p)); }
WP_FN float erfinvf(float x) { return float(erfinv(x)); }
WP_FN float erfcinvf(float x) { return float(erfcinv(x)); }

// The sum of (x/2)^(2k + order) / (k! (k + order)!) over k, whose terms are all positive.
WP_FN double wp_bessel_i(int order, double x) {
    double quarter = 0.25 * x * x, term = order == 0 ? 1.0 : 0.5 * x, sum = term;
    for (int k = 1; k < 1500 && __builtin_fabs(term) > 1e-17 * __builtin_fabs(sum); ++k) {
        term *= quarter / (double(k) * (k + order));
        sum += term;
    }
    return sum;
}
WP_FN double cyl_bessel_i0(double x) { return wp_bessel_i(0, x); }
WP_FN double cyl_bessel_i1(double x) { return wp_bessel_i(1, x); }
WP_FN float cyl_bessel_i0f(float x) { return float(wp_bessel_i(0, x)); }
WP_FN float cyl_bessel_i1f(float x) { return float(wp_bessel_i(1, x)); }
#undef WP_FN
