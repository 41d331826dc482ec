// Buffers with a descriptor, by builtin and by label; loads to shared memory; atomics.
typedef _Float16 half2_v __attribute__((ext_vector_type(2)));
typedef short short2_v __attribute__((ext_vector_type(2)));
typedef int int4_v __attribute__((ext_vector_type(4)));
typedef unsigned uint2_v __attribute__((ext_vector_type(2)));
typedef unsigned uint3_v __attribute__((ext_vector_type(3)));
typedef unsigned uint4_v __attribute__((ext_vector_type(4)));
typedef float float4_v __attribute__((ext_vector_type(4)));
typedef __attribute__((address_space(3))) float* lds_float;
typedef __attribute__((address_space(3))) unsigned* lds_unsigned;

extern "C" __device__ float load_f32(int4_v, int, int, int) __asm("llvm.amdgcn.raw.buffer.load.f32");
__device__ float4_v load_4(int4_v, int, int, int) __asm("llvm.amdgcn.raw.buffer.load.v4f32");
__device__ void store_4(float4_v, int4_v, int, int, int) __asm("llvm.amdgcn.raw.buffer.store.v4f32");
__device__ signed char load_i8(int4_v, int, int, int) __asm__("llvm.amdgcn.raw.buffer.load.i8");
__device__ half2_v load_halves(int4_v, int, int, int) __asm("llvm.amdgcn.raw.buffer.load.v2f16");
__device__ float load_row(int4_v, int, int, int, int) __asm("llvm.amdgcn.struct.buffer.load.f32");
__device__ float add(float, int4_v, int, int, int) __asm("llvm.amdgcn.raw.buffer.atomic.fadd.f32");
__device__ int greatest(int, int4_v, int, int, int) __asm("llvm.amdgcn.raw.buffer.atomic.smax.i32");
__device__ void load_lds(int4_v, lds_unsigned, int, int, int, int, int) __asm("llvm.amdgcn.raw.buffer.load.lds");
__device__ int permute(int, int) __asm("llvm.amdgcn.ds.bpermute");

#define EXPECT(condition) \
    do {                  \
        if (!(condition)) atomicCAS(wrong, 0, __LINE__); \
    } while (0)

__device__ int4_v words_of(const void* p, int bytes, int stride = 0, int flags = 0x00020000) {
    return int4_v{(int)(size_t)p, (int)((size_t)p >> 32) | stride << 16, bytes, flags};
}

// data[i] is i, 64 of them.
__global__ void raw_loads(const unsigned* data, int* wrong) {
    const auto buffer = __builtin_amdgcn_make_buffer_rsrc((void*)data, 0, 40, 0x00027000);
    const int lane = threadIdx.x;
    EXPECT(__builtin_amdgcn_raw_buffer_load_b32(buffer, lane * 4, 0, 0) == (lane < 10 ? lane : 0));
    EXPECT(__builtin_amdgcn_raw_buffer_load_b32(buffer, lane * 4, 8, 0) == (lane < 8 ? lane + 2 : 0));
    EXPECT(__builtin_amdgcn_raw_buffer_load_b32(buffer, -4, 0, 0) == 0 && __builtin_amdgcn_raw_buffer_load_b32(buffer, 0x80000000, 0, 0) == 0);
    EXPECT(__builtin_amdgcn_raw_buffer_load_b8(buffer, 12, 0, 0) == 3 && __builtin_amdgcn_raw_buffer_load_b16(buffer, 36, 0, 0) == 9 && __builtin_amdgcn_raw_buffer_load_b16(buffer, 40, 0, 0) == 0);
    const uint2_v two = __builtin_amdgcn_raw_buffer_load_b64(buffer, 36, 0, 0);
    EXPECT(two[0] == 9 && two[1] == 0);
    const uint3_v three = __builtin_amdgcn_raw_buffer_load_b96(buffer, 32, 0, 0);
    EXPECT(three[0] == 8 && three[1] == 9 && three[2] == 0);
    const uint4_v four = __builtin_amdgcn_raw_buffer_load_b128(buffer, 20, 4, 0);
    EXPECT(four[0] == 6 && four[1] == 7 && four[2] == 8 && four[3] == 9);
    // A format of 0 is no buffer, nor is another type than 0.
    EXPECT(__builtin_amdgcn_raw_buffer_load_b32(__builtin_amdgcn_make_buffer_rsrc((void*)data, 0, 40, 0), 4, 0, 0) == 0);
    EXPECT(__builtin_amdgcn_raw_buffer_load_b32(__builtin_amdgcn_make_buffer_rsrc((void*)data, 0, 40, 0x40027000), 4, 0, 0) == 0);
    // The lane is added to the index, in rows of 8 bytes; without an index in the instruction, records are bytes.
    const auto by_lane = __builtin_amdgcn_make_buffer_rsrc((void*)data, 8, 40, 0x00800000);
    EXPECT(__builtin_amdgcn_raw_buffer_load_b32(by_lane, 4, 0, 0) == (lane < 5 ? 2 * lane + 1 : 0));
}
__global__ void raw_stores(unsigned* data) {
    const auto buffer = __builtin_amdgcn_make_buffer_rsrc(data, 0, 44, 0x00027000);
    if (threadIdx.x != 0) return;
    __builtin_amdgcn_raw_buffer_store_b32(1, buffer, 0, 0, 0);
    __builtin_amdgcn_raw_buffer_store_b8(2, buffer, 4, 0, 0);
    __builtin_amdgcn_raw_buffer_store_b16(0x0403, buffer, 4, 2, 0);
    __builtin_amdgcn_raw_buffer_store_b64(uint2_v{5, 6}, buffer, 8, 0, 0);
    __builtin_amdgcn_raw_buffer_store_b96(uint3_v{7, 8, 9}, buffer, 16, 0, 0);
    __builtin_amdgcn_raw_buffer_store_b128(uint4_v{10, 11, 12, 13}, buffer, 36, 0, 0);
    __builtin_amdgcn_raw_buffer_store_b32(14, buffer, 44, 0, 0);
    __builtin_amdgcn_raw_buffer_store_b32(15, buffer, -8, 0, 0);
}
__global__ void labels(float* data, int* wrong) {
    const int lane = threadIdx.x;
    const int4_v buffer = words_of(data, 64 * 4);
    EXPECT(load_f32(buffer, lane * 4, 0, 0) == lane && load_f32(buffer, lane * 4, 64 * 4, 0) == 0);
    EXPECT(load_4(buffer, 244, 0, 0)[2] == 63 && load_4(buffer, 244, 0, 0)[3] == 0);
    EXPECT(load_i8(buffer, 7, 0, 0) == 0x3f && load_halves(buffer, 4, 0, 0)[1] == 1.875f);
    // 12 rows of 20 bytes.
    const int4_v rows = words_of(data, 12, 20);
    EXPECT(load_row(rows, lane, 8, 0, 0) == (lane < 12 ? lane * 5 + 2 : 0));
    // The same swizzled: 8 rows together, 4 bytes of each in turn.
    const int4_v swizzled = {rows[0], int(unsigned(rows[1]) | 0x80000000), 12, rows[3]};
    EXPECT(load_row(swizzled, lane & 7, 8, 0, 0) == 16 + (lane & 7) && load_row(swizzled, 9, 0, 0, 0) == 41);
    EXPECT(permute((lane ^ 1) << 2, lane) == (lane ^ 1));
    __syncthreads();
    if (lane == 0) store_4(float4_v{-1, -2, -3, -4}, buffer, 248, 0, 0);
    add(0.5f, buffer, 0, 0, 0);
    EXPECT(add(1, buffer, 256, 0, 0) == 0);
    greatest(lane - 10, words_of(data, 64 * 4), 4, 0, 0);
}
__global__ void buffer_atomics(int* counts, float* sums, double* extremes, int* wrong) {
    const auto ints = __builtin_amdgcn_make_buffer_rsrc(counts, 0, 4, 0x00027000);
    __builtin_amdgcn_raw_ptr_buffer_atomic_add_i32(2, ints, 0, 0, 0);
    EXPECT(__builtin_amdgcn_raw_ptr_buffer_atomic_add_i32(2, ints, 4, 0, 0) == 0);
    const auto floats = __builtin_amdgcn_make_buffer_rsrc(sums, 0, 8, 0x00027000);
    __builtin_amdgcn_raw_ptr_buffer_atomic_fadd_f32(0.25f, floats, 0, 0, 0);
    __builtin_amdgcn_raw_ptr_buffer_atomic_fadd_v2f16(half2_v{1, 2}, floats, 4, 0, 0);
    const auto doubles = __builtin_amdgcn_make_buffer_rsrc(extremes, 0, 16, 0x00027000);
    __builtin_amdgcn_raw_ptr_buffer_atomic_fmin_f64(-double(threadIdx.x), doubles, 0, 0, 0);
    __builtin_amdgcn_raw_ptr_buffer_atomic_fmax_f64(double(threadIdx.x), doubles, 8, 0, 0);
}
__global__ void shared_loads(const float* data, int* wrong) {
    __shared__ float rows[4][64];
    const int lane = threadIdx.x;
    __builtin_amdgcn_global_load_lds((void*)(data + 63 - lane), (lds_float)&rows[0][0], 4, 0, 0);
    __builtin_amdgcn_load_to_lds((void*)(data + lane), (lds_float)&rows[1][0], 2, 0, 0);
    const auto buffer = __builtin_amdgcn_make_buffer_rsrc((void*)data, 0, 128, 0x00027000);
    // Only the lower 32 bits of an address in shared memory are kept, as kernels do that pass them in a register.
    const unsigned kept = __builtin_amdgcn_readfirstlane(unsigned((size_t)&rows[2][0]));
    __builtin_amdgcn_raw_ptr_buffer_load_lds(buffer, (lds_float)(size_t)kept, 4, lane * 4, 0, 0, 0);
    load_lds(words_of(data, 256), (lds_unsigned)&rows[3][0], 4, lane * 4, 0, 0, 0);
    __syncthreads();
    EXPECT(rows[0][lane] == 63 - lane && __float_as_uint(rows[1][lane]) == (__float_as_uint(lane) & 0xffff));
    EXPECT(rows[2][lane] == (lane < 32 ? lane : 0) && rows[3][lane] == lane);
    __syncthreads();
    const auto strided = __builtin_amdgcn_make_buffer_rsrc((void*)data, 8, 32, 0x00027000);
    __builtin_amdgcn_struct_ptr_buffer_load_lds(strided, (lds_float)&rows[0][0], 4, lane, 4, 0, 0, 0);
    __syncthreads();
    EXPECT(rows[0][lane] == (lane < 32 ? 2 * lane + 1 : 0));
}
typedef float row_v __attribute__((ext_vector_type(16)));
__global__ void spaces(const float* data, float* out) {
    __shared__ row_v row;
    *(__attribute__((address_space(3))) row_v*)&row = *(const __attribute__((address_space(1))) row_v*)data;
    __syncthreads();
    if (threadIdx.x < 16) ((__attribute__((address_space(1))) float*)out)[threadIdx.x] = ((lds_float)&row)[15 - threadIdx.x];
}
__global__ void atomics(float* memory, double* doubles, unsigned* counts, int* wrong) {
    __shared__ float f[4];
    __shared__ double d;
    __shared__ half2_v h;
    __shared__ short2_v b;
    __shared__ int used;
    const int lane = threadIdx.x;
    if (lane == 0) f[0] = f[1] = 0, f[2] = 5, f[3] = 5, d = 0, h = half2_v{0, 0}, b = short2_v{0, 0}, used = 0;
    __syncthreads();
    __builtin_amdgcn_ds_atomic_fadd_f32((lds_float)&f[0], 1.0f);
    __builtin_amdgcn_ds_faddf((lds_float)&f[1], 2.0f, 0, 0, false);
    __builtin_amdgcn_ds_fminf((lds_float)&f[2], lane - 1.0f, 0, 0, false);
    __builtin_amdgcn_ds_fmaxf((lds_float)&f[3], lane, 0, 0, false);
    __builtin_amdgcn_ds_atomic_fadd_f64(&d, 0.5);
    __builtin_amdgcn_ds_atomic_fadd_v2f16(&h, half2_v{1, 2});
    __builtin_amdgcn_ds_atomic_fadd_v2bf16(&b, short2_v{0x3f80, 0x4000});
    if (lane >= 60) EXPECT(__builtin_amdgcn_ds_append(&used) == 0);
    __syncthreads();
    EXPECT(f[0] == 64 && f[1] == 128 && f[2] == -1 && f[3] == 63 && d == 32 && h[0] == 64 && h[1] == 128 && used == 4);
    EXPECT(b[0] == 0x4280 && b[1] == 0x4300);
    __syncthreads();
    if (lane == 7) EXPECT(__builtin_amdgcn_ds_consume(&used) == 4);
    __builtin_amdgcn_global_atomic_fadd_f32(memory, 1.0f);
    __builtin_amdgcn_flat_atomic_fadd_f32(memory + 1, 1.0f);
    __builtin_amdgcn_global_atomic_fadd_v2f16((half2_v*)memory + 2, half2_v{1, 2});
    __builtin_amdgcn_flat_atomic_fadd_v2f16((half2_v*)memory + 2, half2_v{1, 2});
    __builtin_amdgcn_global_atomic_fadd_v2bf16((short2_v*)memory + 3, short2_v{0x3f80, 0});
    __builtin_amdgcn_flat_atomic_fadd_v2bf16((short2_v*)memory + 3, short2_v{0x3f80, 0});
    __builtin_amdgcn_global_atomic_fadd_f64(doubles, 1.0);
    __builtin_amdgcn_flat_atomic_fadd_f64(doubles, 1.0);
    __builtin_amdgcn_global_atomic_fmin_f64(doubles + 1, -double(lane));
    __builtin_amdgcn_flat_atomic_fmin_f64(doubles + 1, 5.0);
    __builtin_amdgcn_global_atomic_fmax_f64(doubles + 2, double(lane));
    __builtin_amdgcn_flat_atomic_fmax_f64(doubles + 2, -5.0);
    __builtin_amdgcn_atomic_inc32(counts, 9, __ATOMIC_RELAXED, "agent");
    __builtin_amdgcn_atomic_dec32(counts + 1, 9, __ATOMIC_RELAXED, "agent");
    __builtin_amdgcn_atomic_inc64((unsigned long*)counts + 1, 1ul << 40, __ATOMIC_RELAXED, "agent");
    __builtin_amdgcn_atomic_dec64((unsigned long*)counts + 2, 1ul << 40, __ATOMIC_RELAXED, "agent");
}

int main() {
    int* wrong = zeros<int>(1);
    const auto passed = [&] {
        RUN(hipDeviceSynchronize());
        const int line = fetched(wrong, 1)[0];
        if (line) std::printf("device line %d\n", line), ++failures;
    };
    std::vector<unsigned> numbers(64);
    std::vector<float> floats(64);
    for (int i = 0; i < 64; ++i) numbers[i] = floats[i] = i;
    raw_loads<<<1, 64>>>(sent(numbers), wrong), passed();
    unsigned* stored = zeros<unsigned>(64);
    raw_stores<<<1, 64>>>(stored);
    const std::vector<unsigned> expected = {1, 0x04030002, 5, 6, 7, 8, 9, 0, 0, 10, 11, 0, 0, 0};
    const auto found = fetched(stored, 64);
    for (size_t i = 0; i < expected.size(); ++i) CHECK(found[i] == expected[i]);
    float* data = sent(floats);
    shared_loads<<<1, 64>>>(data, wrong), passed();
    float* reversed = zeros<float>(16);
    spaces<<<1, 64>>>(data, reversed), passed();
    CHECK(fetched(reversed, 16)[0] == 15 && fetched(reversed, 16)[15] == 0);
    labels<<<1, 64>>>(data, wrong), passed();
    const auto changed = fetched(data, 64);
    CHECK(changed[0] == 32 && changed[62] == -1 && changed[63] == -2 && changed[61] == 61);
    int* counts = zeros<int>(2);
    float* sums = zeros<float>(2);
    double* extremes = zeros<double>(2);
    buffer_atomics<<<1, 64>>>(counts, sums, extremes, wrong), passed();
    CHECK(fetched(counts, 2)[0] == 128 && fetched(counts, 2)[1] == 0 && fetched(sums, 2)[0] == 16);
    CHECK(fetched(extremes, 2)[0] == -63 && fetched(extremes, 2)[1] == 63);
    float* memory = zeros<float>(4);
    double* doubles = zeros<double>(3);
    unsigned* wraps = zeros<unsigned>(6);
    atomics<<<1, 64>>>(memory, doubles, wraps, wrong), passed();
    CHECK(fetched(memory, 4)[0] == 64 && fetched(memory, 4)[1] == 64);
    CHECK(fetched((_Float16*)memory, 8)[4] == 128 && fetched((_Float16*)memory, 8)[5] == 256);
    CHECK(fetched((unsigned short*)memory, 8)[6] == 0x4300);
    CHECK(fetched(doubles, 3)[0] == 128 && fetched(doubles, 3)[1] == -63 && fetched(doubles, 3)[2] == 63);
    CHECK(fetched(wraps, 6)[0] == 4 && fetched(wraps, 6)[1] == 6 && fetched(wraps, 6)[2] == 64);
    CHECK(fetched((unsigned long*)wraps, 3)[2] == (1ul << 40) - 63);
    return failures != 0;
}
