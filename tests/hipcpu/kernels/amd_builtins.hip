// clang's builtins for gfx942 that compute with a lane's own values, or with those of its wavefront.
typedef _Float16 half2_v __attribute__((ext_vector_type(2)));
typedef __fp16 fp16x2_v __attribute__((ext_vector_type(2)));
typedef short short2_v __attribute__((ext_vector_type(2)));
typedef unsigned short ushort2_v __attribute__((ext_vector_type(2)));
typedef unsigned uint4_v __attribute__((ext_vector_type(4)));

// Each lane of a wavefront checks on the device; the first wrong line of a test is the result.
#define EXPECT(condition) \
    do {                  \
        if (!(condition)) atomicCAS(wrong, 0, __LINE__); \
    } while (0)

__global__ void floats(int* wrong) {
    const float inf = __builtin_inff(), nan = __builtin_nanf(""), tiny = 0x1p-149f;
    EXPECT(__builtin_amdgcn_rcpf(4) == 0.25f && __builtin_amdgcn_rcp(4.0) == 0.25 && __builtin_amdgcn_rcph(4) == 0.25f);
    EXPECT(__builtin_amdgcn_rsqf(4) == 0.5f && __builtin_amdgcn_rsq(4.0) == 0.5 && __builtin_amdgcn_rsqh(4) == 0.5f);
    EXPECT(__builtin_amdgcn_rsq_clampf(0) == 0x1.fffffep127f && __builtin_amdgcn_rsq_clamp(0.0) == 0x1.fffffffffffffp1023);
    EXPECT(__builtin_amdgcn_sqrtf(9) == 3 && __builtin_amdgcn_sqrt(9.0) == 3 && __builtin_amdgcn_sqrth(9) == 3);
    EXPECT(__builtin_amdgcn_exp2f(3) == 8 && __builtin_amdgcn_logf(8) == 3);
    EXPECT(fabsf(__builtin_amdgcn_sinf(0.25f) - 1) < 1e-6f && __builtin_amdgcn_sinf(257) == 0);
    EXPECT(fabsf(__builtin_amdgcn_cosf(0.5f) + 1) < 1e-6f && __builtin_amdgcn_cosf(-300) == 1);
    EXPECT(__builtin_amdgcn_sinh(_Float16(0.25)) == 1 && __builtin_amdgcn_cosh(_Float16(0.5)) == -1);
    EXPECT(__builtin_amdgcn_fractf(-0.25f) == 0.75f && __builtin_amdgcn_fractf(-tiny) == 0x1.fffffep-1f);
    EXPECT(__builtin_amdgcn_fract(2.5) == 0.5 && __builtin_amdgcn_fracth(_Float16(-1.25)) == 0.75f);
    EXPECT(__builtin_amdgcn_ldexpf(3, 4) == 48 && __builtin_amdgcn_ldexp(3.0, -1) == 1.5 && __builtin_amdgcn_ldexph(3, 2) == 12);
    EXPECT(__builtin_amdgcn_frexp_mantf(-12) == -0.75f && __builtin_amdgcn_frexp_expf(-12) == 4);
    EXPECT(__builtin_amdgcn_frexp_mantf(inf) == inf && __builtin_amdgcn_frexp_expf(inf) == 0 && __builtin_amdgcn_frexp_expf(nan) == 0);
    EXPECT(__builtin_amdgcn_frexp_mant(0x1p-1074) == 0.5 && __builtin_amdgcn_frexp_exp(0x1p-1074) == -1073);
    EXPECT(__builtin_amdgcn_frexp_manth(_Float16(6)) == 0.75f && __builtin_amdgcn_frexp_exph(_Float16(6)) == 3);
    EXPECT(__builtin_amdgcn_fmed3f(3, 1, 2) == 2 && __builtin_amdgcn_fmed3f(nan, 5, 2) == 2 && __builtin_amdgcn_fmed3h(1, 9, 4) == 4);
    EXPECT(__builtin_amdgcn_classf(nan, 0x002) && !__builtin_amdgcn_classf(nan, 0x3fd) && __builtin_amdgcn_classf(-inf, 0x004));
    EXPECT(__builtin_amdgcn_classf(-2, 0x008) && __builtin_amdgcn_classf(-tiny, 0x010) && __builtin_amdgcn_classf(-0.0f, 0x020));
    EXPECT(__builtin_amdgcn_classf(0, 0x040) && __builtin_amdgcn_classf(tiny, 0x080) && __builtin_amdgcn_class(2.0, 0x100));
    EXPECT(__builtin_amdgcn_class(double(inf), 0x200) && __builtin_amdgcn_classh(_Float16(-1), 0x008));
}
__global__ void divisions(int* wrong) {
    const float x[] = {7, 0x1p120f, 0x1p-130f, -3, 0x1p-140f}, y[] = {3, 0x1p-20f, 0x1p20f, 0x1p127f, 5};
    for (int i = 0; i < 5; ++i) {
        bool scaled = false, unused = false;
        const float d = __builtin_amdgcn_div_scalef(x[i], y[i], false, &unused), n = __builtin_amdgcn_div_scalef(x[i], y[i], true, &scaled);
        float r = 1 / d, q = n * r;
        q = __builtin_amdgcn_div_fmasf(fmaf(-d, q, n), r, q, scaled);
        const float all = __builtin_amdgcn_div_fixupf(q, y[i], x[i]);
        EXPECT(i == 1 ? all == __builtin_inff() : fabsf(all - x[i] / y[i]) <= fabsf(x[i] / y[i]) * 1e-6f + 0x1p-149f);
    }
    bool scaled;
    const double d = __builtin_amdgcn_div_scale(1.0, 3.0, false, &scaled);
    EXPECT(d == 3 && __builtin_amdgcn_div_fmas(1.0, 2.0, 3.0, true) == 0x5p128 && __builtin_amdgcn_div_fixup(0.25, -4.0, 1.0) == -0.25);
    EXPECT(__builtin_amdgcn_div_fixupf(1, 0, 1) == __builtin_inff() && __builtin_amdgcn_div_fixupf(1, 0, 0) != 0);
    EXPECT(__builtin_amdgcn_div_fixuph(_Float16(2), _Float16(1), _Float16(-2)) == -2);
}
__global__ void conversions(int* wrong) {
    const half2_v down = __builtin_bit_cast(half2_v, __builtin_amdgcn_cvt_pkrtz(2.0009f, -1e9f));
    EXPECT(down[0] == 2 && down[1] == -65504);
    const fp16x2_v same = __builtin_amdgcn_cvt_pkrtz(0.5f, __builtin_inff());
    EXPECT(float(same[0]) == 0.5f && float(same[1]) == __builtin_inff());
    EXPECT(__builtin_amdgcn_cvt_pknorm_i16(1, -0.5f)[0] == 32767 && __builtin_amdgcn_cvt_pknorm_i16(1, -2)[1] == -32767);
    EXPECT(__builtin_amdgcn_cvt_pknorm_u16(2, 0.5f)[0] == 65535 && __builtin_amdgcn_cvt_pknorm_u16(2, 0.5f)[1] == 32768);
    EXPECT(__builtin_amdgcn_cvt_pk_i16(-70000, 5)[0] == -32768 && __builtin_amdgcn_cvt_pk_i16(-70000, 5)[1] == 5);
    EXPECT(__builtin_amdgcn_cvt_pk_u16(70000, 5)[0] == 65535 && __builtin_amdgcn_cvt_pk_u16(70000, 5)[1] == 5);
    EXPECT(__builtin_amdgcn_cvt_pk_u8_f32(300, 1, 0x11223344) == 0x1122ff44 && __builtin_amdgcn_cvt_pk_u8_f32(7, 6, 0) == 0x70000);
    EXPECT(__builtin_amdgcn_cvt_off_f32_i4(0) == -0.5f && __builtin_amdgcn_cvt_off_f32_i4(15) == 0.4375f);
}
__global__ void bits(int* wrong) {
    EXPECT(__builtin_amdgcn_ubfe(0xabcd1234, 8, 12) == 0xd12 && __builtin_amdgcn_ubfe(~0u, 3, 0) == 0 && __builtin_amdgcn_ubfe(~0u, 28, 8) == 15);
    EXPECT(__builtin_amdgcn_sbfe(0x00000f80, 7, 5) == ~0u && __builtin_amdgcn_sbfe(0x780, 7, 5) == 15 && __builtin_amdgcn_sbfe(5, 0, 0) == 0);
    EXPECT(__builtin_amdgcn_alignbit(0x11223344, 0x55667788, 8) == 0x44556677 && __builtin_amdgcn_alignbyte(0x11223344, 0x55667788, 3) == 0x22334455);
    EXPECT(__builtin_amdgcn_perm(0x11223344, 0x55667788, 0x00040d0c) == 0x8844ff00);
    EXPECT(__builtin_amdgcn_perm(0x80000000, 0x00008000, 0x080b0a09) == 0xffff0000);
    EXPECT(__builtin_amdgcn_lerp(0x01020304, 0x02020202, 0x00000101) == 0x01020303);
    EXPECT(__builtin_amdgcn_sad_u8(0x01020304, 0x04030201, 100) == 108 && __builtin_amdgcn_msad_u8(0x01020304, 0x04000201, 100) == 107);
    EXPECT(__builtin_amdgcn_sad_hi_u8(0x01020304, 0x04030201, 100) == (8 << 16) + 100 && __builtin_amdgcn_sad_u16(0x00010005, 0x00040001, 1) == 8);
    EXPECT((__builtin_amdgcn_qsad_pk_u16_u8(0x0000000504030201, 0x04030201, 7) & 0xffffffff) == 0x00040007);
    EXPECT((__builtin_amdgcn_mqsad_pk_u16_u8(0x0000000504030201, 0x00030201, 7) & 0xffffffff) == 0x00030007);
    const uint4_v sums = __builtin_amdgcn_mqsad_u32_u8(0x0000000504030201, 0x00030201, uint4_v{7, 0, 0, 1});
    EXPECT(sums[0] == 7 && sums[1] == 3 && sums[3] == 1 + 3 + 3 + 3);
}
__global__ void dots(int* wrong) {
    EXPECT(__builtin_amdgcn_fdot2(half2_v{2, 3}, half2_v{4, 5}, 0.5f, false) == 23.5f && __builtin_amdgcn_fdot2(half2_v{2, 3}, half2_v{4, 5}, 0, true) == 1);
    EXPECT(__builtin_amdgcn_sdot2(short2_v{-2, 3}, short2_v{4, 5}, 1, false) == 8);
    EXPECT(__builtin_amdgcn_sdot2(short2_v{-32768, -32768}, short2_v{-32768, -32768}, 0, true) == 0x7fffffff);
    EXPECT(__builtin_amdgcn_udot2(ushort2_v{65535, 3}, ushort2_v{2, 5}, 1, false) == 131086);
    EXPECT(__builtin_amdgcn_sdot4(0xff020304, 0x02010101, 10, false) == 17 && __builtin_amdgcn_udot4(0xff020304, 0x02010101, 10, false) == 529);
    EXPECT(__builtin_amdgcn_sdot8(0xf1111111, 0x21111111, 10, false) == 15 && __builtin_amdgcn_udot8(0xf1111111, 0x21111111, 10, false) == 47);
    EXPECT(__builtin_amdgcn_udot8(0xf1111111, 0x21111111, ~0u, true) == ~0u && __builtin_amdgcn_udot8(0xf1111111, 0x21111111, ~0u, false) == 36);
}
__global__ void lanes(int* wrong) {
    const int lane = threadIdx.x & 63;
    EXPECT(__builtin_amdgcn_ds_permute(((lane + 1) & 63) << 2, lane) == ((lane + 63) & 63));
    EXPECT(__builtin_amdgcn_ds_permute(lane < 10 ? 0 : 4, lane + 100) == (lane == 0 ? 109 : lane == 1 ? 163 : 0));
    EXPECT(__builtin_amdgcn_ds_bpermute((lane ^ 5) << 2, lane) == (lane ^ 5));
    EXPECT(__builtin_amdgcn_ds_swizzle(lane, 0x041f) == (lane ^ 1) && __builtin_amdgcn_ds_swizzle(lane, 0x801b) == (lane & ~3) + 3 - (lane & 3));
    EXPECT(__builtin_amdgcn_ds_swizzle(lane, 0xc020) == (lane & 32) + ((lane + 1) & 31) && __builtin_amdgcn_ds_swizzle(lane, 0xe000 | 31) == lane);
    EXPECT(__builtin_amdgcn_ds_swizzle(lane, 0xe000) == (lane & 32) + int(__builtin_bitreverse32(lane & 31) >> 27));
    EXPECT(__builtin_amdgcn_mov_dpp(lane, 0xb1, 0xf, 0xf, true) == (lane ^ 1) && __builtin_amdgcn_mov_dpp(lane + 0.5f, 0x140, 0xf, 0xf, true) == (lane ^ 15) + 0.5f);
    EXPECT(__builtin_amdgcn_update_dpp(-1, lane, 0x111, 0xf, 0xf, false) == (lane % 16 ? lane - 1 : -1));
    EXPECT(__builtin_amdgcn_update_dpp(0, unsigned(lane), 0x155, 0xf, 0xf, false) == unsigned((lane & ~15) + 5));
    if (lane % 2 == 0) EXPECT(__builtin_amdgcn_update_dpp(-7, lane, 0xb1, 0xf, 0xf, false) == -7 && __builtin_amdgcn_update_dpp(-7, lane, 0xb1, 0xf, 0xf, true) == 0);
    EXPECT(__builtin_amdgcn_readfirstlane(lane + 3) == 3 && __builtin_amdgcn_readlane(lane, 17) == 17);
    EXPECT(__builtin_amdgcn_ballot_w64(lane % 4 == 1) == 0x2222222222222222 && __builtin_amdgcn_inverse_ballot_w64(1ul << 7) == (lane == 7));
    EXPECT(__builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0)) == unsigned(lane));
    if (lane >= 40) {
        EXPECT(__builtin_amdgcn_read_exec() == ~0ul << 40 && __builtin_amdgcn_read_exec_lo() == 0 && __builtin_amdgcn_read_exec_hi() == 0xffffff00);
        EXPECT(__builtin_amdgcn_wave_reduce_add_u32(lane, 0) == 24 * (40 + 63) / 2 && __builtin_amdgcn_wave_reduce_sub_u32(1, 0) == unsigned(-24));
        EXPECT(__builtin_amdgcn_wave_reduce_add_u64(1ul << 40, 0) == 24ul << 40 && __builtin_amdgcn_wave_reduce_sub_u64(1, 0) == -24ul);
    }
    EXPECT(__builtin_amdgcn_wave_reduce_min_u32(lane + 2, 0) == 2 && __builtin_amdgcn_wave_reduce_max_u32(lane, 0) == 63);
    EXPECT(__builtin_amdgcn_wave_reduce_min_i32(lane - 32, 0) == -32 && __builtin_amdgcn_wave_reduce_max_i32(lane - 80, 0) == -17);
    EXPECT(__builtin_amdgcn_wave_reduce_min_u64(lane + 2, 0) == 2 && __builtin_amdgcn_wave_reduce_max_u64(lane, 0) == 63);
    EXPECT(__builtin_amdgcn_wave_reduce_min_i64(lane - 32, 0) == -32 && __builtin_amdgcn_wave_reduce_max_i64(lane - 80, 0) == -17);
    EXPECT(__builtin_amdgcn_wave_reduce_and_b32(lane | 64, 0) == 64 && __builtin_amdgcn_wave_reduce_or_b32(lane, 0) == 63 && __builtin_amdgcn_wave_reduce_xor_b32(lane == 5 ? 9 : 0, 0) == 9);
    EXPECT(__builtin_amdgcn_wave_reduce_and_b64(lane | 64, 0) == 64 && __builtin_amdgcn_wave_reduce_or_b64(lane, 0) == 63 && __builtin_amdgcn_wave_reduce_xor_b64(lane == 5 ? 9 : 0, 0) == 9);
    EXPECT(__builtin_amdgcn_wave_reduce_fadd_f32(0.5f, 0) == 32 && __builtin_amdgcn_wave_reduce_fsub_f32(0.5f, 0) == -32);
    EXPECT(__builtin_amdgcn_wave_reduce_fmin_f32(lane - 0.5f, 0) == -0.5f && __builtin_amdgcn_wave_reduce_fmax_f32(lane, 0) == 63);
    EXPECT(__builtin_amdgcn_uicmp(lane, 3, 36) == 7 && __builtin_amdgcn_sicmp(lane - 60, 1, 38) == 3ul << 62 && __builtin_amdgcn_uicmp(lane, 9, 32) == 1ul << 9);
    EXPECT(__builtin_amdgcn_uicmpl(lane, 61, 35) == 7ul << 61 && __builtin_amdgcn_sicmpl(lane, 0, 41) == 1);
    EXPECT(__builtin_amdgcn_fcmpf(lane, 3, 4) == 7 && __builtin_amdgcn_fcmp(double(lane), 62.0, 2) == 1ul << 63 && __builtin_amdgcn_fcmpf(__builtin_nanf(""), 1, 8) == ~0ul);
}
__global__ void places(int* wrong) {
    const auto* packet = (const __attribute__((address_space(4))) unsigned*)__builtin_amdgcn_dispatch_ptr();
    EXPECT((packet[1] & 0xffff) == 128 && packet[1] >> 16 == 2 && packet[3] == 256 && packet[4] == 6);
    EXPECT(__builtin_amdgcn_grid_size_x() == 256 && __builtin_amdgcn_grid_size_y() == 6 && __builtin_amdgcn_grid_size_z() == 1);
    EXPECT(__builtin_amdgcn_workgroup_size_x() == 128 && __builtin_amdgcn_workgroup_size_y() == 2 && __builtin_amdgcn_workgroup_size_z() == 1);
    EXPECT(__builtin_amdgcn_workgroup_id_x() == blockIdx.x && __builtin_amdgcn_workgroup_id_y() == blockIdx.y && __builtin_amdgcn_workgroup_id_z() == 0);
    EXPECT(__builtin_amdgcn_workitem_id_x() == threadIdx.x && __builtin_amdgcn_workitem_id_y() == threadIdx.y && __builtin_amdgcn_workitem_id_z() == 0);
    EXPECT(__builtin_amdgcn_wavefrontsize() == 64);
    // XCC_ID, all 32 bits of register 20; HW_ID's unit, 2 bits from bit 4 of register 4.
    EXPECT(__builtin_amdgcn_s_getreg(20 | 31 << 11) == (blockIdx.x + 2 * blockIdx.y) % 8);
    EXPECT(__builtin_amdgcn_s_getreg(4 | 4 << 6 | 1 << 11) == (threadIdx.x + 128 * threadIdx.y) / 64 % 4);
    const unsigned long before = __builtin_amdgcn_s_memtime();
    EXPECT(__builtin_amdgcn_s_memtime() >= before && __builtin_amdgcn_s_memrealtime() >= before);
}
__global__ void hints(int* wrong) {
    __shared__ int turn[64];
    const int lane = threadIdx.x;
    turn[lane] = lane;
    __builtin_amdgcn_s_waitcnt(0xc07f);
    EXPECT(turn[63 - lane] == 63 - lane);
    __builtin_amdgcn_wave_barrier();
    turn[lane] = -lane;
    __builtin_amdgcn_wave_barrier();
    EXPECT(turn[63 - lane] == lane - 63);
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup", "local");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_sched_barrier(0);
    __builtin_amdgcn_sched_group_barrier(8, 1, 0);
    __builtin_amdgcn_iglp_opt(0);
    __builtin_amdgcn_s_setprio(1);
    __builtin_amdgcn_s_sleep(1);
    __builtin_amdgcn_s_dcache_inv();
    __builtin_amdgcn_s_dcache_inv_vol();
    __builtin_amdgcn_s_dcache_wb();
}

int main() {
    int* wrong = zeros<int>(1);
    const auto passes = [&](auto launch) {
        launch();
        RUN(hipDeviceSynchronize());
        const int line = fetched(wrong, 1)[0];
        if (line) std::printf("device line %d\n", line), ++failures;
    };
    passes([&] { floats<<<1, 64>>>(wrong); });
    passes([&] { divisions<<<1, 64>>>(wrong); });
    passes([&] { conversions<<<1, 64>>>(wrong); });
    passes([&] { bits<<<1, 64>>>(wrong); });
    passes([&] { dots<<<1, 64>>>(wrong); });
    passes([&] { lanes<<<1, 64>>>(wrong); });
    passes([&] { places<<<dim3(2, 3), dim3(128, 2)>>>(wrong); });
    passes([&] { hints<<<1, 64>>>(wrong); });
    return failures != 0;
}
