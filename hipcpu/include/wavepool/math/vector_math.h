// Functions that the join puts in the place of the C library's, so that loops over threads can be vectorised.
#pragma once

#if defined(__HIP_DEVICE_COMPILE__)
// exp(x) = 2^n * exp(r) with n = round(x / ln 2) and |r| <= ln(2) / 2, where a polynomial is exact to 1 ulp. Two
// factors make 2^n, so that results below the normal range lose no more than rounding. There is no branch, and no
// conversion that NaN could make undefined: adding 1.5 * 2^23 leaves n in the low bits of the sum.
extern "C" __device__ __attribute__((used)) inline float __wp_expf(float x) {
    constexpr float shift = 12582912.0f;
    float bounded = x > 89.0f ? 89.0f : x;
    bounded = bounded < -104.0f ? -104.0f : bounded;
    float sum = __builtin_fmaf(bounded, 1.44269504088896341f, shift);
    float n = sum - shift;
    float r = __builtin_fmaf(n, -0.693145751953125f, bounded);
    r = __builtin_fmaf(n, -1.42860682030941723e-6f, r);
    float p = 1.98756915e-4f;
    p = __builtin_fmaf(p, r, 1.39819995e-3f);
    p = __builtin_fmaf(p, r, 8.33345186e-3f);
    p = __builtin_fmaf(p, r, 4.16657962e-2f);
    p = __builtin_fmaf(p, r, 1.66666657e-1f);
    p = __builtin_fmaf(p, r, 5.00000012e-1f);
    float exp_r = __builtin_fmaf(r * r, p, r) + 1.0f;
    int exponent = __builtin_bit_cast(int, sum) - __builtin_bit_cast(int, shift);
    int half = exponent >> 1;
    float low = __builtin_bit_cast(float, (half + 127) << 23);
    float high = __builtin_bit_cast(float, (exponent - half + 127) << 23);
    return exp_r * low * high;
}
#endif
