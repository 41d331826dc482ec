// AMD's assembly inside of kernels: what only waits, and what computes; conversions by the label of their intrinsic.
typedef _Float16 half2_v __attribute__((ext_vector_type(2)));
typedef float float2_v __attribute__((ext_vector_type(2)));
typedef float float4_v __attribute__((ext_vector_type(4)));
typedef int int4_v __attribute__((ext_vector_type(4)));
#define EXPECT(condition) \
    do {                  \
        if (!(condition)) atomicCAS(wrong, 0, __LINE__); \
    } while (0)

template <int N> __device__ void wait_for_loads() {
    asm volatile("s_waitcnt vmcnt(%0)" ::"n"(N));
}
#define WAIT()                       \
    asm volatile("s_nop 0\n\t"       \
                 "s_waitcnt vmcnt(0) lgkmcnt(0)\n" \
                 ::: "memory")
#define TEXT_OF_(N) #N
#define TEXT_OF(N) TEXT_OF_(N)
#define WAIT_FOR(N) asm volatile("s_waitcnt vmcnt(" #N ")\n s_waitcnt lgkmcnt(" TEXT_OF(N) ")" ::: "memory")
__global__ void waits(int* wrong) {
    __shared__ int turn[256];
    const int i = threadIdx.x;
    turn[i] = i;
    asm volatile("s_waitcnt lgkmcnt(0)\n s_barrier" ::: "memory");
    EXPECT(turn[255 - i] == 255 - i);
    __asm__ __volatile__ ( "s_barrier ; all of the block" ::: );
    turn[i] = -i;
    WAIT();  // of a wavefront, all lanes have written
    EXPECT(turn[i ^ 63] == -(i ^ 63));
    wait_for_loads<3>();
    WAIT_FOR(2);
    if (i > 3) asm volatile("s_setprio 1"); else asm("s_sleep 2");
    asm volatile(R"(
        ; a comment
        s_waitcnt vmcnt(0) & lgkmcnt(0)   // another
        s_setprio 0 /* and another */
        v_nop
        .p2align 4
        buffer_wbl2 sc0 sc1
    )");
    int kept = i;
    asm volatile("" : "+v"(kept));
    asm volatile("; %0" ::"s"(kept));
    EXPECT(kept == i);
}
__device__ float sum_of(float a, float b) {
    float sum;
    asm("v_add_f32 %0, %1, %2" : "=v"(sum) : "v"(a), "v"(b));
    return sum;
}
__global__ void moves_and_sums(int* wrong) {
    const int lane = threadIdx.x & 63;
    int a = 0, b = 5;
    asm volatile("v_mov_b32 %0, %1" : "=v"(a) : "v"(lane));
    EXPECT(a == lane && sum_of(1.5f, lane) == lane + 1.5f);
    asm volatile("v_mov_b32_e32 %0, 0x3f800000\n\tv_add_u32 %0, %0, 1" : "=&v"(a));
    EXPECT(a == 0x3f800001);
    asm("v_swap_b32 %0, %1" : "+v"(a), "+v"(b));
    EXPECT(a == 5 && b == 0x3f800001);
    asm("v_readfirstlane_b32 %0, %1" : "=s"(a) : "v"(lane + 9));
    EXPECT(a == 9);
    float4_v vector = {1, 2, 3, 4};
    asm volatile("v_mul_f32 %[out], 2.0, %[in]" : [out] "=v"(vector[1]) : [in] "v"(vector.w));
    EXPECT(vector[1] == 8 && vector[0] == 1 && vector[3] == 4);
    asm volatile("v_fma_f32 %0, -%1, |%2|, %0" : "+v"(vector[0]) : "v"(2.0f), "v"(-3.0f));
    EXPECT(vector[0] == -5);
    float tied;
    asm volatile("v_fmac_f32 %0, %2, %3" : "=v"(tied) : "0"(1.0f), "v"(2.0f), "v"(0.25f));
    EXPECT(tied == 1.5f);
    double d;
    asm("v_fma_f64 %0, %1, %2, 1.0" : "=v"(d) : "v"(2.0), "v"(3.0));
    EXPECT(d == 7);
    unsigned u;
    asm("v_lshl_add_u32 %0, %1, 3, %2" : "=v"(u) : "v"(5), "v"(2));
    EXPECT(u == 42);
    asm("v_bfe_u32 %0, %1, 8, 12\n v_perm_b32 %0, %0, %0, %2" : "=&v"(u) : "v"(0xabcd1234), "s"(0x0c0c0001));
    EXPECT(u == 0x120d);
    asm("v_cvt_f32_ubyte1 %0, %1" : "=v"(tied) : "v"(0x2a00));
    EXPECT(tied == 42);
    asm("v_exp_f32 %0, %1\n v_rcp_f32 %0, %0" : "=v"(tied) : "v"(2.0f));
    EXPECT(tied == 0.25f);
    asm("v_max3_f32 %0, %1, %2, 4.0" : "=v"(tied) : "v"(2.0f), "v"(3.0f));
    EXPECT(tied == 4);
    // Reductions of a row by DPP.
    int sum = lane;
    asm volatile("v_add_u32_dpp %0, %0, %0 row_ror:8 row_mask:0xf bank_mask:0xf" : "+v"(sum));
    EXPECT(sum == lane + ((lane & ~15) + ((lane - 8) & 15)));
    int shifted = -1;
    asm volatile("v_mov_b32_dpp %0, %1 row_shr:1 row_mask:0xf bank_mask:0xf" : "+v"(shifted) : "v"(lane));
    EXPECT(shifted == (lane % 16 ? lane - 1 : -1));
    asm volatile("v_mov_b32_dpp %0, %1 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf bound_ctrl:0" : "+v"(shifted) : "v"(lane));
    EXPECT(shifted == (lane ^ 1));
    // Comparisons answer with masks, in a register or in vcc.
    unsigned long even;
    asm("v_cmp_lt_i32_e64 %0, %1, %2" : "=s"(even) : "v"(lane), "n"(3));
    EXPECT(even == 7);
    asm("v_cmp_gt_f32 vcc, %1, %2\n v_cndmask_b32 %0, %3, %4, vcc" : "=v"(a) : "v"(float(lane)), "v"(31.5f), "v"(-1), "v"(lane) : "vcc");
    EXPECT(a == (lane > 31 ? lane : -1));
    unsigned die;
    asm volatile("s_getreg_b32 %0, hwreg(HW_REG_XCC_ID)" : "=s"(die));
    EXPECT(die == blockIdx.x % 8);
}
__global__ void packed(int* wrong) {
    float2_v r;
    asm("v_pk_fma_f32 %0, %1, %2, %3" : "=v"(r) : "v"(float2_v{1, 2}), "v"(float2_v{3, 4}), "v"(float2_v{0.5f, 0.25f}));
    EXPECT(r[0] == 3.5f && r[1] == 8.25f);
    asm("v_pk_mul_f32 %0, %1, %2 op_sel:[1,0] op_sel_hi:[0,1]" : "=v"(r) : "v"(float2_v{1, 2}), "v"(float2_v{3, 5}));
    EXPECT(r[0] == 6 && r[1] == 5);
    asm("v_pk_add_f32 %0, %1, %2 neg_lo:[0,1] neg_hi:[0,1]" : "=v"(r) : "v"(float2_v{1, 2}), "v"(float2_v{3, 5}));
    EXPECT(r[0] == -2 && r[1] == -3);
    half2_v h;
    asm("v_pk_fma_f16 %0, %1, %2, %3" : "=v"(h) : "v"(half2_v{1, 2}), "v"(half2_v{3, 4}), "v"(half2_v{1, 1}));
    EXPECT(h[0] == 4 && h[1] == 9);
    asm("v_cvt_pkrtz_f16_f32 %0, %1, %2" : "=v"(h) : "v"(2.0009f), "v"(-1.0f));
    EXPECT(h[0] == 2 && h[1] == -1);
    float f = 1;
    asm("v_dot2_f32_f16 %0, %1, %2, %0" : "+v"(f) : "v"(half2_v{1, 2}), "v"(half2_v{3, 4}));
    asm("v_dot2c_f32_f16 %0, %1, %2" : "+v"(f) : "v"(half2_v{1, 0}), "v"(half2_v{1, 1}));
    EXPECT(f == 13);
    int n;
    asm("v_dot4_i32_i8 %0, %1, %2, %3" : "=v"(n) : "v"(0xff020304), "v"(0x02010101), "v"(10));
    EXPECT(n == 17);
}
__global__ void small_floats(int* wrong) {
    // 1 is 0x40 as fp8 and as bf8; -2 is 0xc8 as fp8, and 0xc4 as bf8.
    int codes = 0x12345678;
    asm("v_cvt_pk_fp8_f32 %0, %1, %2" : "+v"(codes) : "v"(1.0f), "v"(-2.0f));
    EXPECT(codes == 0x1234c840);
    asm("v_cvt_pk_bf8_f32_e64 %0, -%1, |%2| op_sel:[0,0,1]" : "+v"(codes) : "v"(2.0f), "v"(-1.0f));
    EXPECT(codes == 0x40c4c840);
    float f[4];
    asm("v_cvt_f32_fp8 %0, %1" : "=v"(f[0]) : "v"(codes));
    asm("v_cvt_f32_fp8_sdwa %0, %1 src0_sel:BYTE_1" : "=v"(f[1]) : "v"(codes));
    asm("v_cvt_f32_bf8 %0, %1 src0_sel:BYTE_2" : "=v"(f[2]) : "v"(codes));
    asm("v_cvt_f32_bf8_e32 %0, %1" : "=v"(f[3]) : "v"(codes >> 24));
    EXPECT(f[0] == 1 && f[1] == -2 && f[2] == -2 && f[3] == 1);
    float2_v low, high;
    asm("v_cvt_pk_f32_fp8 %0, %2\n v_cvt_pk_f32_bf8_sdwa %1, %2 src0_sel:WORD_1" : "=&v"(low), "=v"(high) : "v"(codes));
    EXPECT(low[0] == 1 && low[1] == -2 && high[0] == -2 && high[1] == 1);
    // 1.0625 is between 1 and 1.125, and a seed of 1/2 lifts it.
    asm("v_cvt_sr_fp8_f32 %0, %1, %2 op_sel:[0,0,1,0]" : "+v"(codes) : "v"(1.0625f), "v"(0x80000000));
    EXPECT(codes == 0x40c44140);
    asm("v_cvt_sr_fp8_f32 %0, %1, %2 op_sel:[0,0,1,1]\n v_cvt_sr_bf8_f32 %0, %1, 0" : "+v"(codes) : "v"(1.0625f), "v"(0x7fffffff));
    EXPECT(codes == 0x40c44140);
    asm("v_cvt_sr_bf8_f32 %0, 4.0, 0 op_sel:[0,0,0,1]" : "+v"(codes));
    EXPECT(codes == 0x40484140);
}
__device__ float decoded(int, int) __asm("llvm.amdgcn.cvt.f32.bf8");
__device__ float2_v decoded_pair(int, bool) __asm("llvm.amdgcn.cvt.pk.f32.fp8");
__device__ int encoded_pair(float, float, int, bool) __asm("llvm.amdgcn.cvt.pk.fp8.f32");
__device__ int encoded_by_seed(float, int, int, int) __asm("llvm.amdgcn.cvt.sr.fp8.f32");
typedef short short2_v __attribute__((ext_vector_type(2)));
__device__ short2_v whole(int, int) __asm("llvm.amdgcn.cvt.pk.i16");
__device__ short2_v of_one(float, float) __asm("llvm.amdgcn.cvt.pknorm.i16");
__device__ unsigned one_byte(float, unsigned, unsigned) __asm("llvm.amdgcn.cvt.pk.u8.f32");
__global__ void labels(int* wrong) {
    EXPECT(encoded_pair(1, -2, 0x12345678, false) == 0x1234c840 && encoded_pair(1, -2, 0x12345678, true) == 0xc8405678);
    EXPECT(decoded(0x40c44840, 0) == 1 && decoded(0x40c44840, 1) == 4 && decoded(0x40c44840, 2) == -2);
    EXPECT(decoded_pair(0x48404040, true)[0] == 1 && decoded_pair(0x48404040, true)[1] == 2);
    EXPECT(decoded_pair(0x40404840, false)[0] == 1 && decoded_pair(0x40404840, false)[1] == 2);
    EXPECT(encoded_by_seed(1.0625f, 0x80000000, 0x12345678, 3) == 0x41345678);
    EXPECT(encoded_by_seed(1.0625f, 0x7fffffff, 0x12345678, 0) == 0x12345640);
    EXPECT(whole(-40000, 7)[0] == -32768 && whole(-40000, 7)[1] == 7);
    EXPECT(of_one(-1, 0.5f)[0] == -32767 && of_one(2, 0)[0] == 32767 && one_byte(9, 2, 0x12345678) == 0x12095678);
}
// As Composable Kernel does it: one statement sets m0, and others move it and use it.
__device__ void load_row(void* row, int4_v buffer, int offset) {
    asm volatile("buffer_load_dword %1, %2, 0 offen offset:%3 lds" : "=r"(row) : "v"(offset), "s"(buffer), "n"(4) : "memory");
}
__global__ void rows_by_m0(const float* data, int* wrong) {
    __shared__ float rows[2][64][4];
    const int wave = threadIdx.x / 64, lane = threadIdx.x % 64;
    const int4_v buffer = {(int)(size_t)data, (int)((size_t)data >> 32), 65 * 4, 0x00020000};
    asm volatile("s_mov_b32 m0, %0" ::"s"(__builtin_amdgcn_readfirstlane(int((size_t)&rows[wave][0][0]) - 4)) : "memory");
    for (int row = 0; row < 4; ++row) {
        load_row(&rows[0][0][0], buffer, 4 * (lane / 16 + row));
        asm volatile("s_add_u32 m0, %0, m0" ::"n"(256) : "memory");
    }
    asm volatile("s_waitcnt vmcnt(" TEXT_OF(0) ")\n s_barrier" ::: "memory");
    const float* own = &rows[wave][0][0];
    for (int row = 0; row < 4; ++row) EXPECT(own[64 * row + lane] == lane / 16 + row + 1);
}
__global__ void memory(const float* data, float* out, int* wrong) {
    __shared__ float4_v rows[64];
    const int lane = threadIdx.x;
    const unsigned address = unsigned((size_t)&rows[lane]);
    const float4_v own = {float(lane), 1, 2, 3};
    asm volatile("ds_write_b128 %0, %1" ::"v"(address), "v"(own) : "memory");
    asm volatile("s_waitcnt lgkmcnt(0)\ns_barrier" ::: "memory");
    float4_v other;
    float one;
    asm volatile("ds_read_b128 %0, %1 offset:16\n s_waitcnt lgkmcnt(0)" : "=v"(other) : "v"(unsigned((size_t)&rows[lane / 2])) : "memory");
    EXPECT(other[0] == lane / 2 + 1 && other[3] == 3);
    asm volatile("ds_read_b32 %0, %1 offset:%2" : "=v"(one) : "v"(unsigned((size_t)&rows[0])), "n"(32) : "memory");
    EXPECT(one == 2);
    float2_v two;
    asm volatile("ds_read2_b32 %0, %1 offset0:1 offset1:2*2+2" : "=v"(two) : "v"(unsigned((size_t)&rows[0])));
    EXPECT(two[0] == 1 && two[1] == 2);
    unsigned small;
    asm volatile("ds_read_u16 %0, %1 offset:6" : "=v"(small) : "v"(unsigned((size_t)&rows[0])));
    EXPECT(small == 0x3f80);
    asm volatile("ds_bpermute_b32 %0, %1, %2" : "=v"(small) : "v"((lane ^ 1) << 2), "v"(lane));
    EXPECT(small == unsigned(lane ^ 1));
    asm volatile("global_load_dword %0, %1, off offset:4" : "=v"(one) : "v"(data + lane));
    EXPECT(one == (lane < 63 ? lane + 1 : 64));
    asm volatile("global_load_dwordx4 %0, %1, %2" : "=v"(other) : "v"(16), "s"(data));
    EXPECT(other[0] == 4 && other[3] == 7);
    const int4_v buffer = {(int)(size_t)data, (int)((size_t)data >> 32), 40, 0x00020000};
    asm volatile("buffer_load_dword %0, %1, %2, 0 offen offset:8" : "=v"(one) : "v"(lane * 4), "s"(buffer));
    EXPECT(one == (lane < 8 ? lane + 2 : 0));
    asm volatile("buffer_load_dwordx4 %0, off, %1, %2" : "=v"(other) : "s"(buffer), "s"(28));
    EXPECT(other[0] == 7 && other[2] == 9 && other[3] == 0);
    asm volatile("s_barrier");
    asm volatile("s_mov_b32 m0, %0\n\tbuffer_load_dword %1, %2, 0 offen lds\n\ts_waitcnt vmcnt(0)"
                 ::"s"(unsigned((size_t)&rows[0])), "v"(lane * 4), "s"(buffer) : "memory");
    EXPECT(((float*)rows)[lane] == (lane < 10 ? lane : 0));
    const int4_v sums = {(int)(size_t)out, (int)((size_t)out >> 32), 65 * 4, 0x00020000};
    asm volatile("buffer_atomic_add_f32 %0, %1, %2, 0 offen" ::"v"(1.0f), "v"(256), "s"(sums) : "memory");
    asm volatile("global_atomic_add_f32 %0, %1, off" ::"v"(out + 64), "v"(0.5f) : "memory");
    asm volatile("global_store_dword %0, %1, off" ::"v"(out + lane), "v"(own[0] * 2) : "memory");
}

int main() {
    int* wrong = zeros<int>(1);
    const auto passed = [&] {
        RUN(hipDeviceSynchronize());
        const int line = fetched(wrong, 1)[0];
        if (line) std::printf("device line %d\n", line), ++failures;
    };
    waits<<<1, 256>>>(wrong), passed();
    moves_and_sums<<<3, 64>>>(wrong), passed();
    packed<<<1, 64>>>(wrong), passed();
    small_floats<<<1, 64>>>(wrong), passed();
    labels<<<1, 64>>>(wrong), passed();
    std::vector<float> floats(65);
    for (int i = 0; i < 65; ++i) floats[i] = i;
    rows_by_m0<<<1, 128>>>(sent(floats), wrong), passed();
    float* out = zeros<float>(65);
    memory<<<1, 64>>>(sent(floats), out, wrong), passed();
    CHECK(fetched(out, 65)[63] == 126 && fetched(out, 65)[64] == 96);
    return failures != 0;
}
