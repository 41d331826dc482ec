// Names of HIP's own headers that CUDA has not: conversions, pairs, complex numbers and AMD's device libraries.
#include <hip/hip_bf16.h>
#include <hip/hip_complex.h>
#include <hip/hip_fp16.h>
#include <hip/hip_fp8.h>
#include <hip/hip_runtime.h>

// Each integer is between the two halves that it is rounded down and up to, which are neighbours unless they are equal.
template <class T> __device__ bool encloses(T x, __half down, __half up, __half to_zero) {
    bool negative = x < 0;
    int steps = int(__half_as_short(up)) - int(__half_as_short(down));
    bool neighbours = steps == 0 || steps == 1 || steps == -1;
    auto below = [&](__half h) { return __hisinf(h) ? __hisinf(h) < 0 : __int128(float(h)) <= __int128(x); };
    auto above = [&](__half h) { return __hisinf(h) ? __hisinf(h) > 0 : __int128(float(h)) >= __int128(x); };
    return below(down) && above(up) && neighbours && __half_as_short(to_zero) == __half_as_short(negative ? up : down);
}
__global__ void from_integers(int* wrong) {
    unsigned long long bits = (threadIdx.x + 1) * 0x9e3779b97f4a7c15ull >> threadIdx.x % 60;
    int i = int(bits) >> threadIdx.x % 29;
    bool good = encloses(i, __int2half_rd(i), __int2half_ru(i), __int2half_rz(i));
    unsigned u = unsigned(bits);
    good = good && encloses(u, __uint2half_rd(u), __uint2half_ru(u), __uint2half_rz(u));
    short s = short(bits);
    good = good && encloses(s, __short2half_rd(s), __short2half_ru(s), __short2half_rz(s));
    unsigned short us = (unsigned short)bits;
    good = good && encloses(us, __ushort2half_rd(us), __ushort2half_ru(us), __ushort2half_rz(us));
    long long l = (long long)bits;
    good = good && encloses(l, __ll2half_rd(l), __ll2half_ru(l), __ll2half_rz(l));
    good = good && encloses(bits, __ull2half_rd(bits), __ull2half_ru(bits), __ull2half_rz(bits));
    good = good && __half2float(__int2half_rd(2049)) == 2048.0f && __half2float(__int2half_ru(2049)) == 2050.0f;
    good = good && __half2float(__int2half_rz(-2049)) == -2048.0f && __half2float(__int2half_rz(70000)) == 65504.0f;
    if (!good) atomicAdd(wrong, 1);
}

template <class V, class H> __device__ bool unordered(H one, H two, H nan) {
    V a{one, nan}, b{two, two};
    bool good = __hbltu2(a, b) && !__hbgtu2(a, b) && __hbleu2(a, b) && !__hbgeu2(a, b) && __hbneu2(a, b) && !__hbequ2(a, b);
    V less = __hltu2(a, b), more = __hgtu2(a, b), equal = __hequ2(a, a), other = __hneu2(a, b), least = __hleu2(b, a);
    good = good && float(less.x) == 1 && float(less.y) == 1 && float(more.x) == 0 && float(more.y) == 1;
    good = good && float(equal.x) == 1 && float(equal.y) == 1 && float(other.x) == 1 && float(least.x) == 0;
    return good && float(__hgeu2(a, b).y) == 1;
}
__global__ void pairs(int* wrong) {
    bool good = unordered<__half2>(__half(1.0f), __half(2.0f), __half(NAN));
    good = good && unordered<__hip_bfloat162>(__hip_bfloat16(1.0f), __hip_bfloat16(2.0f), __hip_bfloat16(NAN));
    __half2 ends = __hisinf2(__half2{__half(INFINITY), __half(1.0f)});
    good = good && float(ends.x) == 1 && float(ends.y) == 0;
    __half_raw raw = __half(1.5f);
    good = good && raw.data == _Float16(1.5f) && raw.x == 0x3e00 && float(__clamp_01(__half(3.0f))) == 1.0f;
    float4 four{1, 2, 3, 4};
    four.data += float4{1, 1, 1, 1}.data;
    auto three = four.data.xyz;
    good = good && four.x == 2 && four.w == 5 && three.z == 4 && sizeof(float4) == 16 && four.data[1] == 3;
    uint2 two;
    two.data = uint2{7, 8}.data;
    good = good && two.x == 7 && two.y == 8;
    if (!good) atomicAdd(wrong, 1);
}

__global__ void eight_bits(int* wrong) {
    const auto kind = __HIP_E4M3_FNUZ;
    auto both = __hip_cvt_double2_to_fp8x2(double2{1.0, -0.5}, __HIP_SATFINITE, kind);
    bool good = both == __hip_cvt_halfraw2_to_fp8x2(__half2{__half(1.0f), __half(-0.5f)}, __HIP_SATFINITE, kind);
    good = good && both == __hip_cvt_bfloat16raw2_to_fp8x2(__hip_bfloat162{1.0f, -0.5f}, __HIP_SATFINITE, kind);
    good = good && (both & 0xff) == __hip_cvt_bfloat16raw_to_fp8(__hip_bfloat16(1.0f), __HIP_SATFINITE, kind);
    __half2_raw back = __hip_cvt_fp8x2_to_halfraw2(both, kind);
    good = good && back.x.data == _Float16(1.0f) && back.y.data == _Float16(-0.5f) && both == 0xb840;
    const __half2 pair(back);
    const __hip_bfloat162 other(__hip_bfloat162_raw{0x3f80, 0x4000});
    good = good && float(pair.x) == 1 && float(pair.y) == -0.5f && float(other.x) == 1 && float(other.y) == 2;
    if (!good) atomicAdd(wrong, 1);
}

__global__ void complex_numbers(int* wrong) {
    hipDoubleComplex p = make_hipDoubleComplex(1, 2), q = make_hipDoubleComplex(3, -4), r = make_hipDoubleComplex(5, 6);
    hipDoubleComplex sum = hipCfma(p, q, r);  // 3 - 4i + 6i + 8 + 5 + 6i
    bool good = sum.x == 16 && sum.y == 8 && hipCsqabs(q) == 25;
    hipFloatComplex s = hipCfmaf(hipComplexDoubleToFloat(p), hipComplexDoubleToFloat(q), hipComplexDoubleToFloat(r));
    good = good && s.x == 16 && s.y == 8 && hipComplexFloatToDouble(s).y == 8 && hipCsqabsf(s) == 320;
    if (!good) atomicAdd(wrong, 1);
}

__global__ void bits_and_extremes(int* wrong, float* place) {
    const unsigned long long mask = 0x8000000100000011ull;
    bool good = __fns64(mask, 0, 1) == 0 && __fns64(mask, 1, 1) == 4 && __fns64(mask, 0, 3) == 32;
    good = good && __fns64(mask, 5, 2) == 63 && __fns64(mask, 63, -2) == 32 && __fns64(mask, 0, 5) == -1;
    good = good && __fns32(0x11u, 4, 0) == 4 && __fns32(0x11u, 3, 0) == -1 && __fns32(0x11u, 31, -2) == 0;
    good = good && __lastbit_u32_u64(mask << 4) == 4 && __lastbit_u32_u64(0) == ~0u;
    good = good && powif(-2.0f, 3) == -8.0f && powi(2.0, -2) == 0.25 && powi(3.0, 0) == 1.0;
    double s, c;
    sincospi(0.5, &s, &c);
    good = good && fabs(s - 1) < 1e-15 && fabs(c) < 1e-15;
    if (!good) atomicAdd(wrong, 1);
    unsafeAtomicMax(place, float(threadIdx.x)), unsafeAtomicMin(place + 1, -float(threadIdx.x));
    safeAtomicMax(place + 2, float(threadIdx.x)), safeAtomicMin(place + 3, -float(threadIdx.x));
}

// The error of a product and sum in double, from integers that 128 bits hold.
__device__ bool is_between(long a, long b, long c) {
    __int128 exact = __int128(a) * b + c;
    double down = __ocml_fma_rtn_f64(a, b, c), up = __ocml_fma_rtp_f64(a, b, c), near = __ocml_fma_rte_f64(a, b, c);
    bool tight = down == up ? __int128(down) == exact : nextafter(down, INFINITY) == up;
    double zero = __ocml_fma_rtz_f64(a, b, c);
    return __int128(down) <= exact && __int128(up) >= exact && tight && (near == down || near == up) &&
           zero == (exact < 0 ? up : down);
}
__global__ void mathematics(int* wrong) {
    unsigned long bits = (threadIdx.x + 1) * 0x9e3779b97f4a7c15ul;
    long a = long(bits >> 12), b = long(bits * 3 >> 12), c = long(bits * 7) >> (11 + (threadIdx.x & 31));
    bool good = is_between(a, b, c) && is_between(-a, b, c) && is_between(a, 1, c);
    float x = float(threadIdx.x) / 256.0f, cosine;
    good = good && __ocml_sincos_f32(x, &cosine) == sinf(x) && cosine == cosf(x);
    good = good && __ocml_exp2_f32(x) == exp2f(x) && __ocml_native_log2_f32(x + 1) == log2f(x + 1);
    good = good && __ocml_pown_f64(1.5, 3) == 3.375 && __ocml_ldexp_f32(x, 3) == 8 * x && __ocml_scalb_f32(x, 3.0f) == 8 * x;
    good = good && __ocml_len4_f64(1, 1, 1, 1) == 2.0 && __ocml_rlen3_f32(0, 3, 4) == 0.2f;
    const __2f16 one = {_Float16(1), _Float16(2)};
    int power, quotient;
    double whole;
    good = good && __ocml_frexp_f64(8.0, &power) == 0.5 && power == 4 && __ocml_modf_f64(2.75, &whole) == 0.75 && whole == 2;
    good = good && __ocml_remquo_f32(7.0f, 2.0f, &quotient) == -1.0f && (quotient & 7) == 4;
    good = good && __ocml_isnan_f64(NAN) && !__ocml_isinf_f32(x) && __ocml_signbit_f32(-1.0f) == 1 && __ocml_ilogb_f32(9) == 3;
    good = good && __ocml_sqrt_f16(_Float16(4)) == _Float16(2) && 
           __ocml_fma_2f16(one, one, one).y == _Float16(6);
    good = good && __ocml_isnan_2f16(__2f16(_Float16(NAN))).x == -1 && __ocml_cvtrtz_f16_f32(2049.5f) == _Float16(2048);
    good = good && __ocml_add_rtp_f32(1.0f, 1e-10f) > 1.0f && __ocml_mul_rtn_f64(0.1, 3.0) < __ocml_mul_rtp_f64(0.1, 3.0);
    if (!good) atomicAdd(wrong, 1);
}

__global__ void lanes(int* wrong) {
    const int lane = int(__ockl_lane_u32()), next = (lane + 1) & 63;
    bool good = lane == int(threadIdx.x & 63) && __hip_ds_bpermute(4 * next, lane) == next;
    good = good && __hip_ds_bpermutef(4 * next, float(lane)) == float(next);
    good = good && __hip_ds_permute(4 * next, lane) == ((lane + 63) & 63);
    good = good && __hip_ds_permutef(4 * next, float(lane)) == float((lane + 63) & 63);
    good = good && __hip_ds_swizzle(unsigned(lane), 0x041f) == unsigned(lane ^ 1);
    good = good && __hip_ds_swizzlef(float(lane), 0x041f) == float(lane ^ 1);
    good = good && __hip_move_dpp(lane, 0xb1, 0xf, 0xf, false) == (lane ^ 1);
    good = good && __mbcnt_hi(~0u, __mbcnt_lo(~0u, 0)) == unsigned(lane);
    good = good && __ockl_wfall_i32(lane >= 0) && !__ockl_wfall_i32(lane) && __ockl_wfany_i32(lane == 3);
    good = good && __ockl_wgred_add_i32(threadIdx.x & 1) == int(blockDim.x / 2) && __ockl_wgred_and_i32(1);
    good = good && !__ockl_wgred_or_i32(0) && __ockl_get_local_id(0) == threadIdx.x && __ockl_get_num_groups(1) == 1;
    good = good && __ockl_get_group_id(0) == blockIdx.x && __ockl_get_local_size(0) == blockDim.x;
    good = good && __hip_get_thread_idx_x() == threadIdx.x && __hip_get_grid_dim_x() == gridDim.x;
    if (lane & 1) good = good && __ockl_activelane_u32() == unsigned(lane / 2);
    good = good && __ockl_clz_u8(1) == 7 && __ockl_clz_u16(0) == 16 && __ockl_clz_u64(1) == 63;
    good = good && __ockl_sdot2(short2{-3, 2}.data, short2{5, 7}.data, 1, false) == 0 && 
           __ockl_udot4(uchar4{255, 255, 0, 1}.data, uchar4{255, 1, 9, 2}.data, 3, false) == 65285;
    good = good && __ockl_sdot8(0x0000001f, 0x00000012, 1, false) == 0 && __ockl_udot8(0x1f, 0x12, 1, false) == 32;
    good = good && __ockl_sdot4(char4{127, 0, 0, 0}.data, char4{127, 0, 0, 0}.data, 0x7fffffff, true) == 0x7fffffff;
    const __2f16 p = {_Float16(1), _Float16(2)}, q = {_Float16(3), _Float16(4)};
    good = good && __ockl_fdot2(p, q, 0.5f, false) == 11.5f && __ockl_fdot2(p, q, 0.5f, true) == 1.0f;
    good = good && __ockl_sadd_u32(3, 5, 1) == 3 && __ockl_mul_hi_u32(1u << 31, 6) == 3;
    good = good && __llvm_amdgcn_rcp_f16(_Float16(4)) == _Float16(0.25f);
    if (!good) atomicAdd(wrong, 1);
}

int main() {
    int* wrong = zeros<int>(8);
    float* place = zeros<float>(4);
    from_integers<<<1, 1024>>>(wrong);
    pairs<<<1, 1>>>(wrong + 1);
    eight_bits<<<1, 1>>>(wrong + 2);
    complex_numbers<<<1, 1>>>(wrong + 3);
    bits_and_extremes<<<1, 64>>>(wrong + 4, place);
    mathematics<<<1, 256>>>(wrong + 5);
    lanes<<<2, 128>>>(wrong + 6);
    auto counts = fetched(wrong, 8);
    for (int i = 0; i < 7; ++i) {
        if (counts[i]) std::printf("group %d: %d threads\n", i, counts[i]);
        CHECK(counts[i] == 0);
    }
    auto extremes = fetched(place, 4);
    CHECK(extremes[0] == 63 && extremes[1] == -63 && extremes[2] == 63 && extremes[3] == -63);
    return failures != 0;
}
