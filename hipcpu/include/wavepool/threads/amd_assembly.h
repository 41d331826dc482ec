// AMD's instructions as functions, into which `front/assembly.py` translates inline assembly. The first argument is the
// register that is written. A register is a variable of any type whose bits count; the names here are what is known.
#pragma once

#include <cmath>

#include "wavepool/threads/amd_instructions.h"
#include "wavepool/threads/fp8_instructions.h"

// Assembly that cannot run here: the build refuses kernels that reach a call of this, with its text and line.
extern "C" __device__ void __wp_refused_assembly(const char* why, int line);
// The register M0 of a thread, which one statement sets and another uses.
extern "C" __device__ void __wp_set_m0(unsigned thread, unsigned value);
extern "C" __device__ unsigned __wp_get_m0(unsigned thread);

namespace wp_asm {
#define WP_FN __device__ __forceinline__

// Operands that are no registers: a number for floating point, the bits of anything, and changed signs.
struct number { double value; };
struct bits { unsigned long value; };
template <class X> struct negated { X operand; };
template <class X> struct absolute { X operand; };
template <class X> negated(X) -> negated<X>;
template <class X> absolute(X) -> absolute<X>;

template <class T, class X> WP_FN T get(const X& operand) {
    static_assert(sizeof(X) >= sizeof(T) || sizeof(X) >= 4 || sizeof(T) == 4, "this register is too small for the instruction");
    T result{};
    __builtin_memcpy(&result, &operand, sizeof(X) < sizeof(T) ? sizeof(X) : sizeof(T));
    return result;
}
template <class T> WP_FN T get(const bits& operand) { return get<T>(operand.value); }
template <class T> WP_FN T get(const number& operand) {
    if constexpr (std::is_integral<T>::value) return get<T>(float(operand.value));
    else return T(operand.value);
}
template <class T, class X> WP_FN T get(const negated<X>& operand) { return -get<T>(operand.operand); }
template <class T, class X> WP_FN T get(const absolute<X>& operand) { T x = get<T>(operand.operand); return x < 0 ? -x : x; }
// 16 bits clear the rest of their register.
template <class T, class D> WP_FN void put(D& target, T value) {
    static_assert(sizeof(D) >= sizeof(T) || sizeof(T) == 4, "this register is too small for the result");
    D changed{};
    __builtin_memcpy(&changed, &value, sizeof(D) < sizeof(T) ? sizeof(D) : sizeof(T));
    target = changed;
}

#define WP_V1(NAME, R, A, RESULT)                                       \
    template <class D, class X> WP_FN void NAME(D& d, const X& x) {     \
        [[maybe_unused]] const A a = get<A>(x);                         \
        put<R>(d, R(RESULT));                                           \
    }
#define WP_V2(NAME, R, A, B, RESULT)                                                                \
    template <class D, class X, class Y> WP_FN void NAME(D& d, const X& x, const Y& y) {            \
        [[maybe_unused]] const A a = get<A>(x);                                                     \
        [[maybe_unused]] const B b = get<B>(y);                                                     \
        put<R>(d, R(RESULT));                                                                       \
    }
#define WP_V3(NAME, R, A, B, C, RESULT)                                                                          \
    template <class D, class X, class Y, class Z> WP_FN void NAME(D& d, const X& x, const Y& y, const Z& z) {    \
        const A a = get<A>(x);                                                                                   \
        const B b = get<B>(y);                                                                                   \
        const C c = get<C>(z);                                                                                   \
        put<R>(d, R(RESULT));                                                                                    \
    }
// The register that is written is also the third operand.
#define WP_V2C(NAME, R, A, B, RESULT)                                                               \
    template <class D, class X, class Y> WP_FN void NAME(D& d, const X& x, const Y& y) {            \
        const A a = get<A>(x);                                                                      \
        const B b = get<B>(y);                                                                      \
        const R c = get<R>(d);                                                                      \
        put<R>(d, R(RESULT));                                                                       \
    }
typedef unsigned u32;
typedef int i32;
typedef unsigned long u64;
typedef long i64;
typedef unsigned short u16;
typedef short i16;
typedef float f32;
typedef double f64;
typedef _Float16 f16;

WP_V1(v_mov_b32, u32, u32, a)
WP_V1(v_mov_b64, u64, u64, a)
WP_V1(v_accvgpr_read, u32, u32, a)
WP_V1(v_accvgpr_read_b32, u32, u32, a)
WP_V1(v_accvgpr_write, u32, u32, a)
WP_V1(v_accvgpr_write_b32, u32, u32, a)
WP_V1(v_accvgpr_mov_b32, u32, u32, a)
WP_V1(s_mov_b32, u32, u32, a)
WP_V1(s_mov_b64, u64, u64, a)
WP_FN u32 thread_in_block() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }
WP_FN u32 get_m0() { return __wp_get_m0(thread_in_block()); }
WP_FN void set_m0(u32 value) { __wp_set_m0(thread_in_block(), value); }
WP_V2(s_add_u32, u32, u32, u32, a + b)
WP_V2(s_add_i32, u32, u32, u32, a + b)
WP_V2(s_sub_u32, u32, u32, u32, a - b)
WP_V2(s_sub_i32, u32, u32, u32, a - b)
WP_V2(s_mul_i32, u32, u32, u32, a * b)
WP_V2(s_and_b32, u32, u32, u32, a & b)
WP_V2(s_or_b32, u32, u32, u32, a | b)
WP_V2(s_xor_b32, u32, u32, u32, a ^ b)
WP_V2(s_lshl_b32, u32, u32, u32, a << (b & 31))
WP_V2(s_lshr_b32, u32, u32, u32, a >> (b & 31))
WP_V1(v_readfirstlane_b32, u32, u32, __builtin_amdgcn_readfirstlane(a))
WP_V2(v_readlane_b32, u32, u32, i32, __builtin_amdgcn_readlane(a, b))
WP_V3(v_cndmask_b32, u32, u32, u32, u64, c >> __wp_lane() & 1 ? b : a)
WP_V2(ds_bpermute_b32, u32, i32, u32, __builtin_amdgcn_ds_bpermute(a, b))
WP_V2(ds_permute_b32, u32, i32, u32, __builtin_amdgcn_ds_permute(a, b))
template <class D, class E> WP_FN void v_swap_b32(D& d, E& e) {
    const u32 first = get<u32>(d);
    put<u32>(d, get<u32>(e));
    put<u32>(e, first);
}

template <class T> WP_FN T greater(T a, T b) { return T(fmax(f64(a), f64(b))); }
template <class T> WP_FN T lesser(T a, T b) { return T(fmin(f64(a), f64(b))); }
#define WP_V_FLOATS(T, TYPE, FMA)                                        \
    WP_V2(v_add_##TYPE, T, T, T, a + b)                                  \
    WP_V2(v_mul_##TYPE, T, T, T, a * b)                                  \
    WP_V2(v_max_##TYPE, T, T, T, greater(a, b))                             \
    WP_V2(v_min_##TYPE, T, T, T, lesser(a, b))                             \
    WP_V3(v_fma_##TYPE, T, T, T, T, FMA(a, b, c))                        \
    WP_V2C(v_fmac_##TYPE, T, T, T, FMA(a, b, c))                         \
    WP_V1(v_floor_##TYPE, T, T, floor(f64(a)))                                \
    WP_V1(v_ceil_##TYPE, T, T, ceil(f64(a)))                                  \
    WP_V1(v_trunc_##TYPE, T, T, trunc(f64(a)))                                \
    WP_V1(v_rndne_##TYPE, T, T, rint(f64(a)))                                 \
    WP_V1(v_fract_##TYPE, T, T, wp_fraction(a))                          \
    WP_V2(v_ldexp_##TYPE, T, T, i32, ldexp(f64(a), b))
#define WP_V_SMALL_FLOATS(T, TYPE)                                       \
    WP_V2(v_sub_##TYPE, T, T, T, a - b)                                  \
    WP_V2(v_subrev_##TYPE, T, T, T, b - a)                               \
    WP_V3(v_med3_##TYPE, T, T, T, T, wp_median<f32>(a, b, c))            \
    WP_V3(v_max3_##TYPE, T, T, T, T, greater(greater(a, b), c))                \
    WP_V3(v_min3_##TYPE, T, T, T, T, lesser(lesser(a, b), c))                \
    WP_V1(v_exp_##TYPE, T, T, exp2f(a))                                  \
    WP_V1(v_log_##TYPE, T, T, log2f(a))                                  \
    WP_V1(v_rcp_##TYPE, T, T, 1.0f / f32(a))                             \
    WP_V1(v_rsq_##TYPE, T, T, 1.0f / __builtin_sqrtf(a))                 \
    WP_V1(v_sqrt_##TYPE, T, T, __builtin_sqrtf(a))                       \
    WP_V1(v_sin_##TYPE, T, T, wp_sine(a))                                \
    WP_V1(v_cos_##TYPE, T, T, wp_cosine(a))
WP_V_FLOATS(f32, f32, fmaf)
WP_V_FLOATS(f64, f64, fma)
// A product of two halves is exact in a double, and so is its sum but for what no half can hold.
WP_V_FLOATS(f16, f16, [](f64 x, f64 y, f64 z) { return f16(x * y + z); })
WP_V_SMALL_FLOATS(f32, f32)
WP_V_SMALL_FLOATS(f16, f16)
#undef WP_V_SMALL_FLOATS
#undef WP_V_FLOATS

WP_V1(v_cvt_f32_f16, f32, f16, a)
WP_V1(v_cvt_f16_f32, f16, f32, a)
WP_V1(v_cvt_f32_f64, f32, f64, a)
WP_V1(v_cvt_f64_f32, f64, f32, a)
WP_V1(v_cvt_f32_i32, f32, i32, a)
WP_V1(v_cvt_f32_u32, f32, u32, a)
// Beyond the range the nearest number, and 0 for what is no number.
WP_V1(v_cvt_i32_f32, i32, f32, a != a ? 0 : i32(wp_limited<f64>(a, -2147483648.0, 2147483647.0)))
WP_V1(v_cvt_u32_f32, u32, f32, a != a ? 0 : u32(wp_limited<f64>(a, 0.0, 4294967295.0)))
WP_V1(v_cvt_f32_ubyte0, f32, u32, a & 255)
WP_V1(v_cvt_f32_ubyte1, f32, u32, a >> 8 & 255)
WP_V1(v_cvt_f32_ubyte2, f32, u32, a >> 16 & 255)
WP_V1(v_cvt_f32_ubyte3, f32, u32, a >> 24)
WP_V1(v_cvt_off_f32_i4, f32, i32, __builtin_amdgcn_cvt_off_f32_i4(a))
WP_V2(v_cvt_pkrtz_f16_f32, wp_storage_half2, f32, f32, __builtin_amdgcn_cvt_pkrtz(a, b))
WP_V2(v_pack_b32_f16, u32, u16, u16, a | u32(b) << 16)

// Conversions of 8-bit floats; PART is the byte or half that is meant of the register with the codes.
#define WP_FP8(NAME)                                                                                         \
    template <int PART, class D, class X> WP_FN void v_cvt_f32_##NAME(D& d, const X& x) {                    \
        put(d, __builtin_amdgcn_cvt_f32_##NAME(get<i32>(x), PART));                                          \
    }                                                                                                        \
    template <int PART, class D, class X> WP_FN void v_cvt_pk_f32_##NAME(D& d, const X& x) {                 \
        put(d, __builtin_amdgcn_cvt_pk_f32_##NAME(get<i32>(x), PART));                                       \
    }                                                                                                        \
    template <int PART, class D, class X, class Y>                                                           \
    WP_FN void v_cvt_pk_##NAME##_f32(D& d, const X& x, const Y& y) {                                         \
        put(d, __builtin_amdgcn_cvt_pk_##NAME##_f32(get<f32>(x), get<f32>(y), get<i32>(d), PART));           \
    }                                                                                                        \
    template <int PART, class D, class X, class Y>                                                           \
    WP_FN void v_cvt_sr_##NAME##_f32(D& d, const X& x, const Y& seed) {                                      \
        put(d, __builtin_amdgcn_cvt_sr_##NAME##_f32(get<f32>(x), get<i32>(seed), get<i32>(d), PART));        \
    }
WP_FP8(fp8)
WP_FP8(bf8)
#undef WP_FP8

WP_V2(v_add_u32, u32, u32, u32, a + b)
WP_V2(v_sub_u32, u32, u32, u32, a - b)
WP_V2(v_subrev_u32, u32, u32, u32, b - a)
WP_V2(v_mul_lo_u32, u32, u32, u32, a * b)
WP_V2(v_mul_hi_u32, u32, u64, u64, (a & 0xffffffff) * (b & 0xffffffff) >> 32)
WP_V2(v_mul_hi_i32, i32, i32, i32, i64(a) * b >> 32)
WP_V2(v_mul_u32_u24, u32, u32, u32, (a & 0xffffff) * (b & 0xffffff))
WP_V3(v_mad_u32_u24, u32, u32, u32, u32, (a & 0xffffff) * (b & 0xffffff) + c)
WP_V2(v_lshlrev_b32, u32, u32, u32, b << (a & 31))
WP_V2(v_lshrrev_b32, u32, u32, u32, b >> (a & 31))
WP_V2(v_ashrrev_i32, i32, u32, i32, b >> (a & 31))
WP_V2(v_lshlrev_b64, u64, u32, u64, b << (a & 63))
WP_V2(v_lshrrev_b64, u64, u32, u64, b >> (a & 63))
WP_V2(v_and_b32, u32, u32, u32, a & b)
WP_V2(v_or_b32, u32, u32, u32, a | b)
WP_V2(v_xor_b32, u32, u32, u32, a ^ b)
WP_V1(v_not_b32, u32, u32, ~a)
WP_V1(v_bfrev_b32, u32, u32, __builtin_bitreverse32(a))
WP_V3(v_bfe_u32, u32, u32, u32, u32, __builtin_amdgcn_ubfe(a, b, c))
WP_V3(v_bfe_i32, u32, u32, u32, u32, __builtin_amdgcn_sbfe(a, b, c))
WP_V3(v_bfi_b32, u32, u32, u32, u32, (a & b) | (~a & c))
WP_V3(v_alignbit_b32, u32, u32, u32, u32, __builtin_amdgcn_alignbit(a, b, c))
WP_V3(v_alignbyte_b32, u32, u32, u32, u32, __builtin_amdgcn_alignbyte(a, b, c))
WP_V3(v_perm_b32, u32, u32, u32, u32, __builtin_amdgcn_perm(a, b, c))
WP_V3(v_lshl_add_u32, u32, u32, u32, u32, (a << (b & 31)) + c)
WP_V3(v_add_lshl_u32, u32, u32, u32, u32, (a + b) << (c & 31))
WP_V3(v_lshl_or_b32, u32, u32, u32, u32, (a << (b & 31)) | c)
WP_V3(v_and_or_b32, u32, u32, u32, u32, (a & b) | c)
WP_V3(v_or3_b32, u32, u32, u32, u32, a | b | c)
WP_V3(v_add3_u32, u32, u32, u32, u32, a + b + c)
WP_V3(v_xad_u32, u32, u32, u32, u32, (a ^ b) + c)
WP_V2(v_max_u32, u32, u32, u32, a > b ? a : b)
WP_V2(v_min_u32, u32, u32, u32, a < b ? a : b)
WP_V2(v_max_i32, i32, i32, i32, a > b ? a : b)
WP_V2(v_min_i32, i32, i32, i32, a < b ? a : b)
WP_V3(v_sad_u8, u32, u32, u32, u32, __builtin_amdgcn_sad_u8(a, b, c))
WP_V2(v_mbcnt_lo_u32_b32, u32, u32, u32, __builtin_amdgcn_mbcnt_lo(a, b))
WP_V2(v_mbcnt_hi_u32_b32, u32, u32, u32, __builtin_amdgcn_mbcnt_hi(a, b))

WP_V3(v_dot2_f32_f16, f32, wp_half2, wp_half2, f32, __builtin_amdgcn_fdot2(a, b, c, false))
WP_V2C(v_dot2c_f32_f16, f32, wp_half2, wp_half2, __builtin_amdgcn_fdot2(a, b, c, false))
WP_V3(v_dot2_i32_i16, i32, wp_short2, wp_short2, i32, __builtin_amdgcn_sdot2(a, b, c, false))
WP_V2C(v_dot2c_i32_i16, i32, wp_short2, wp_short2, __builtin_amdgcn_sdot2(a, b, c, false))
WP_V3(v_dot2_u32_u16, u32, wp_ushort2, wp_ushort2, u32, __builtin_amdgcn_udot2(a, b, c, false))
WP_V3(v_dot4_i32_i8, i32, i32, i32, i32, __builtin_amdgcn_sdot4(a, b, c, false))
WP_V2C(v_dot4c_i32_i8, i32, i32, i32, __builtin_amdgcn_sdot4(a, b, c, false))
WP_V3(v_dot4_u32_u8, u32, u32, u32, u32, __builtin_amdgcn_udot4(a, b, c, false))
WP_V3(v_dot8_i32_i4, i32, i32, i32, i32, __builtin_amdgcn_sdot8(a, b, c, false))
WP_V2C(v_dot8c_i32_i4, i32, i32, i32, __builtin_amdgcn_sdot8(a, b, c, false))
WP_V3(v_dot8_u32_u4, u32, u32, u32, u32, __builtin_amdgcn_udot8(a, b, c, false))

// Comparisons answer with a bit for each active lane.
template <class T, class D, class X, class Y, class F> WP_FN void compare(D& d, const X& x, const Y& y, F holds) {
    put(d, wp_ballot(holds(get<T>(x), get<T>(y)), 0, 0));
}

// Packed instructions compute two results; of each operand the modifiers choose the half that each result takes, and
// whose sign is changed. Bit 0 is for the first operand.
struct packing { unsigned low = 0, high = 7, negated_low = 0, negated_high = 0; };
template <class T, class X> WP_FN T half_of(const X& operand, int at, unsigned selected, unsigned negations) {
    T value;
    if constexpr (std::is_same<X, number>::value || std::is_same<X, bits>::value) value = get<T>(operand);
    else {
        static_assert(sizeof(X) == 2 * sizeof(T), "a packed operand holds two values");
        __builtin_memcpy(&value, reinterpret_cast<const char*>(&operand) + (selected >> at & 1 ? sizeof(T) : 0), sizeof(T));
    }
    return negations >> at & 1 ? T(-value) : value;
}
template <class T> struct pair { T low, high; };
#define WP_VP2(NAME, T, RESULT)                                                                                    \
    template <class D, class X, class Y> WP_FN void NAME(D& d, const X& x, const Y& y, packing p = {}) {           \
        const auto one = [](T a, T b) { return T(RESULT); };                                                       \
        put(d, pair<T>{one(half_of<T>(x, 0, p.low, p.negated_low), half_of<T>(y, 1, p.low, p.negated_low)),        \
                       one(half_of<T>(x, 0, p.high, p.negated_high), half_of<T>(y, 1, p.high, p.negated_high))});  \
    }
#define WP_VP3(NAME, T, RESULT)                                                                                    \
    template <class D, class X, class Y, class Z>                                                                  \
    WP_FN void NAME(D& d, const X& x, const Y& y, const Z& z, packing p = {}) {                                    \
        const auto one = [](T a, T b, T c) { return T(RESULT); };                                                  \
        put(d, pair<T>{one(half_of<T>(x, 0, p.low, p.negated_low), half_of<T>(y, 1, p.low, p.negated_low),         \
                           half_of<T>(z, 2, p.low, p.negated_low)),                                                \
                       one(half_of<T>(x, 0, p.high, p.negated_high), half_of<T>(y, 1, p.high, p.negated_high),     \
                           half_of<T>(z, 2, p.high, p.negated_high))});                                            \
    }
WP_VP2(v_pk_add_f32, f32, a + b)
WP_VP2(v_pk_mul_f32, f32, a * b)
WP_VP3(v_pk_fma_f32, f32, fmaf(a, b, c))
template <class D, class X, class Y> WP_FN void v_pk_mov_b32(D& d, const X& x, const Y& y, packing p = {}) {
    put(d, pair<u32>{half_of<u32>(x, 0, p.low, 0), half_of<u32>(y, 1, p.high, 0)});
}
WP_VP2(v_pk_add_f16, f16, a + b)
WP_VP2(v_pk_mul_f16, f16, a * b)
WP_VP2(v_pk_max_f16, f16, greater(a, b))
WP_VP2(v_pk_min_f16, f16, lesser(a, b))
WP_VP3(v_pk_fma_f16, f16, f64(a) * f64(b) + f64(c))
WP_VP2(v_pk_add_u16, u16, a + b)
WP_VP2(v_pk_add_i16, i16, a + b)
WP_VP2(v_pk_sub_u16, u16, a - b)
WP_VP2(v_pk_sub_i16, i16, a - b)
WP_VP2(v_pk_mul_lo_u16, u16, u32(a) * b)
WP_VP2(v_pk_max_u16, u16, a > b ? a : b)
WP_VP2(v_pk_min_u16, u16, a < b ? a : b)
WP_VP2(v_pk_max_i16, i16, a > b ? a : b)
WP_VP2(v_pk_min_i16, i16, a < b ? a : b)
WP_VP2(v_pk_lshlrev_b16, u16, b << (a & 15))
WP_VP2(v_pk_lshrrev_b16, u16, b >> (a & 15))
#undef WP_VP2
#undef WP_VP3

// DPP: the first operand comes from another lane, and where there is none, nothing is written, or it is 0.
template <class D, class X, class F>
WP_FN void with_dpp(D& d, const X& x, int control, int rows, int banks, bool zero_outside, F instruction) {
    const int source = wp_dpp_source(control), lane = __wp_lane();
    const u32 moved = wp_exchange(get<u32>(x), source < 0 ? lane : source, 0, 0);
    const bool inside = source >= 0 && (__wp_wave_active() >> (source & 63) & 1);
    if (!(rows >> (lane >> 4) & 1) || !(banks >> (lane >> 2 & 3) & 1) || !(inside || zero_outside)) return;
    instruction(d, inside ? moved : 0u);
}

// Memory. `T` is what lies there: small integers fill their register's 32 bits.
template <class T> using widened = std::conditional_t<(sizeof(T) < 4), std::conditional_t<(T(-1) < T(0)), int, unsigned>, T>;
template <int kWords> struct words { unsigned values[kWords]; };
template <class T, class D> WP_FN void load(D& d, const void* from) {
    T value;
    __builtin_memcpy(&value, from, sizeof(T));
    if constexpr (std::is_integral<T>::value) put(d, widened<T>(value));
    else put(d, value);
}
template <class T, class X> WP_FN void store(void* to, const X& x) {
    const T value = get<T>(x);
    __builtin_memcpy(to, &value, sizeof(T));
}
template <class X> WP_FN char* shared(const X& address, long offset) {
    return wp_shared_address(get<u64>(address)) + offset;
}
template <class X> WP_FN char* global(const X& address, long offset) {
    static_assert(sizeof(X) == 8, "an address in global memory has 64 bits");
    return reinterpret_cast<char*>(get<u64>(address)) + offset;
}
template <class X, class S> WP_FN char* global(const X& lane, const S& base, long offset) {
    return reinterpret_cast<char*>(get<u64>(base) + get<u32>(lane)) + offset;
}
// A place in a buffer, from the register of the index, of the offset, both, or neither.
struct place { bool indexed; unsigned index, offset; };
WP_FN place place_at(unsigned offset) { return {false, 0, offset}; }
template <class X> WP_FN place offset_in(const X& x, unsigned offset) { return {false, 0, get<u32>(x) + offset}; }
template <class X> WP_FN place index_in(const X& x, unsigned offset) { return {true, get<u32>(x), offset}; }
template <class X> WP_FN place both_in(const X& x, unsigned offset) {
    const auto both = get<words<2>>(x);
    return {true, both.values[0], both.values[1] + offset};
}
template <class X> WP_FN wp_buffer described(const X& resource) {
    static_assert(sizeof(X) == 16, "a buffer's descriptor has 128 bits");
    return wp_buffer(get<words<4>>(resource).values);
}
template <class T, class D, class R, class S> WP_FN void buffer_load(D& d, place at, const R& resource, const S& scalar) {
    const T value = described(resource).template load<T>(at.indexed, at.index, at.offset, get<u32>(scalar));
    if constexpr (std::is_integral<T>::value) put(d, widened<T>(value));
    else put(d, value);
}
template <class T, class X, class R, class S> WP_FN void buffer_store(const X& x, place at, const R& resource, const S& scalar) {
    described(resource).store(get<T>(x), at.indexed, at.index, at.offset, get<u32>(scalar));
}
template <class R, class S> WP_FN void buffer_to_shared(place at, const R& resource, const S& scalar, int offset) {
    wp_buffer_to_shared(described(resource), (void*)(u64)get_m0(), 4, at.indexed, at.index, at.offset - offset, get<u32>(scalar), offset, 0);
}
// What lay there before is the result only of the forms that say so.
template <class T, class X> WP_FN T atomic_sum(char* at, const X& x) {
    return at ? wp_atomic_sum(reinterpret_cast<T*>(at), get<T>(x)) : T{};
}
template <class T, class X, class R, class S> WP_FN T buffer_sum(const X& x, place at, const R& resource, const S& scalar) {
    return atomic_sum<T>(described(resource).at(at.indexed, at.index, at.offset, get<u32>(scalar)), x);
}

// Matrix instructions are builtins of the same operands.
template <class R, class A, class B, class C, class... Rest, class D, class X, class Y, class Z>
WP_FN void matrix(R (*builtin)(A, B, C, Rest...), D& d, const X& x, const Y& y, const Z& z) {
    put(d, builtin(get<A>(x), get<B>(y), get<C>(z), Rest(0)...));
}

#undef WP_V1
#undef WP_V2
#undef WP_V3
#undef WP_V2C
#undef WP_FN
}  // namespace wp_asm
