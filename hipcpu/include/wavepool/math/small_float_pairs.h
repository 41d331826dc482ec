// Saturating and comparing functions of the 16-bit floating-point types and of pairs of them.
#pragma once

#include "wavepool/math/small_float.h"

#define WP_FN __host__ __device__ __forceinline__
#define WP_SMALL template <class H, wp_if_small_float<H> = 0> WP_FN
#define WP_PAIR template <class V, wp_if_small_pair<V> = 0> WP_FN

// Saturating is to [0, 1], and NaN becomes 0.
template <class H> WP_FN H wp_small_saturated(float x) { return H(x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f); }
WP_SMALL H __clamp_01(H a) { return wp_small_saturated<H>(float(a)); }
WP_SMALL H __hadd_sat(H a, H b) { return wp_small_saturated<H>(float(a) + float(b)); }
WP_SMALL H __hsub_sat(H a, H b) { return wp_small_saturated<H>(float(a) - float(b)); }
WP_SMALL H __hmul_sat(H a, H b) { return wp_small_saturated<H>(float(a) * float(b)); }
WP_SMALL H __hfma_sat(H a, H b, H c) { return wp_small_saturated<H>(fmaf(float(a), float(b), float(c))); }
WP_SMALL H __hfma_relu(H a, H b, H c) {
    float x = fmaf(float(a), float(b), float(c));
    return H(x < 0.0f ? 0.0f : x);
}
// With a NaN the result is NaN.
WP_SMALL H __hmax_nan(H a, H b) { return __hisnan(a) ? a : __hisnan(b) ? b : __hmax(a, b); }
WP_SMALL H __hmin_nan(H a, H b) { return __hisnan(a) ? a : __hisnan(b) ? b : __hmin(a, b); }
// Unordered comparisons hold where one is NaN.
WP_SMALL bool __hequ(H a, H b) { return !(float(a) < float(b) || float(a) > float(b)); }
WP_SMALL bool __hneu(H a, H b) { return !(float(a) == float(b)); }
WP_SMALL bool __hltu(H a, H b) { return !(float(a) >= float(b)); }
WP_SMALL bool __hleu(H a, H b) { return !(float(a) > float(b)); }
WP_SMALL bool __hgtu(H a, H b) { return !(float(a) <= float(b)); }
WP_SMALL bool __hgeu(H a, H b) { return !(float(a) < float(b)); }

#define WP_PAIR_1(NAME, ELEMENT) \
    WP_PAIR V NAME(V a) { return V{ELEMENT(a.x), ELEMENT(a.y)}; }
WP_PAIR_1(h2sin, hsin)
WP_PAIR_1(h2cos, hcos)
WP_PAIR_1(h2tanh, htanh)
WP_PAIR_1(h2exp2, hexp2)
WP_PAIR_1(h2exp10, hexp10)
WP_PAIR_1(h2log2, hlog2)
WP_PAIR_1(h2log10, hlog10)
WP_PAIR_1(h2floor, hfloor)
WP_PAIR_1(h2ceil, hceil)
WP_PAIR_1(h2trunc, htrunc)
WP_PAIR_1(h2rint, hrint)
WP_PAIR_1(operator-, __hneg)
#undef WP_PAIR_1
#define WP_PAIR_2(NAME, ELEMENT) \
    WP_PAIR V NAME(V a, V b) { return V{ELEMENT(a.x, b.x), ELEMENT(a.y, b.y)}; }
WP_PAIR_2(__hadd2_sat, __hadd_sat)
WP_PAIR_2(__hsub2_sat, __hsub_sat)
WP_PAIR_2(__hmul2_sat, __hmul_sat)
WP_PAIR_2(__hmax2_nan, __hmax_nan)
WP_PAIR_2(__hmin2_nan, __hmin_nan)
#undef WP_PAIR_2
WP_PAIR V __hfma2_sat(V a, V b, V c) { return V{__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y)}; }
WP_PAIR V __hfma2_relu(V a, V b, V c) { return V{__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y)}; }
// Complex multiply-add: real parts in x, imaginary parts in y.
WP_PAIR V __hcmadd(V a, V b, V c) {
    return V{__hfma(a.x, b.x, __hfma(-a.y, b.y, c.x)), __hfma(a.x, b.y, __hfma(a.y, b.x, c.y))};
}

// 1 or 0 in each half; whether both halves hold; all bits or none of each half.
#define WP_PAIR_COMPARISON(WORD)                                                                                \
    WP_PAIR V __h##WORD##2(V a, V b) {                                                                          \
        using H = decltype(a.x);                                                                                \
        return V{H(__h##WORD(a.x, b.x) ? 1.0f : 0.0f), H(__h##WORD(a.y, b.y) ? 1.0f : 0.0f)};                   \
    }                                                                                                           \
    WP_PAIR bool __hb##WORD##2(V a, V b) { return __h##WORD(a.x, b.x) && __h##WORD(a.y, b.y); }                 \
    WP_PAIR unsigned __h##WORD##2_mask(V a, V b) {                                                              \
        return (__h##WORD(a.x, b.x) ? 0xffffu : 0u) | (__h##WORD(a.y, b.y) ? 0xffff0000u : 0u);                 \
    }
WP_PAIR_COMPARISON(eq)
WP_PAIR_COMPARISON(ne)
WP_PAIR_COMPARISON(lt)
WP_PAIR_COMPARISON(le)
WP_PAIR_COMPARISON(gt)
WP_PAIR_COMPARISON(ge)
WP_PAIR_COMPARISON(equ)
WP_PAIR_COMPARISON(neu)
WP_PAIR_COMPARISON(ltu)
WP_PAIR_COMPARISON(leu)
WP_PAIR_COMPARISON(gtu)
WP_PAIR_COMPARISON(geu)
#undef WP_PAIR_COMPARISON
WP_PAIR V __hisnan2(V a) {
    using H = decltype(a.x);
    return V{H(__hisnan(a.x) ? 1.0f : 0.0f), H(__hisnan(a.y) ? 1.0f : 0.0f)};
}
WP_PAIR V __hisinf2(V a) {
    using H = decltype(a.x);
    return V{H(__hisinf(a.x) ? 1.0f : 0.0f), H(__hisinf(a.y) ? 1.0f : 0.0f)};
}
WP_PAIR bool operator==(V a, V b) { return a.x == b.x && a.y == b.y; }
WP_PAIR bool operator!=(V a, V b) { return !(a == b); }
WP_PAIR bool operator<(V a, V b) { return __hblt2(a, b); }
WP_PAIR bool operator<=(V a, V b) { return __hble2(a, b); }
WP_PAIR bool operator>(V a, V b) { return __hbgt2(a, b); }
WP_PAIR bool operator>=(V a, V b) { return __hbge2(a, b); }
#undef WP_PAIR
#undef WP_SMALL
#undef WP_FN
