// Names that few kernels use: what each computes, against the C library or by hand.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuComplex.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/std/array>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <math_constants.h>
namespace cg = cooperative_groups;

__global__ void special(float* f, double* d) {
    f[0] = erfinvf(0.5f), f[1] = erfcinvf(0.5f), f[2] = normcdfinvf(0.975f), f[3] = cyl_bessel_i0f(2.0f);
    f[4] = cyl_bessel_i1f(2.0f), f[5] = rnorm4df(1, 1, 1, 1), f[6] = normf(3, f), f[7] = erfinvf(1.0f);
    d[0] = erfinv(0.999999), d[1] = erfcinv(1e-30), d[2] = normcdfinv(1e-10), d[3] = erf(erfinv(-0.3));
    d[4] = erfinv(1e-12);
}
// scipy.special: erfinv(0.5), erfcinv(0.5), ndtri(float32(0.975)), i0(2), i1(2); erfinv(0.999999), erfcinv(1e-30),
// ndtri(1e-10)
static void check_special() {
    float* f = zeros<float>(8);
    double* d = zeros<double>(5);
    special<<<1, 1>>>(f, d);
    auto got = fetched(f, 8);
    const float right[6] = {0.47693628f, 0.47693628f, 1.9599639f, 2.2795853f, 1.5906369f, 0.5f};
    for (int i = 0; i < 6; ++i) CHECK(std::fabs(got[i] - right[i]) <= 3e-7f * right[i]);
    CHECK(std::isinf(got[7]));
    auto doubles = fetched(d, 5);
    CHECK(std::fabs(doubles[0] - 3.458910737275499) < 1e-12);
    CHECK(std::fabs(doubles[1] - 8.148616223169) < 1e-11);
    CHECK(std::fabs(doubles[2] + 6.361340902404056) < 1e-13);
    CHECK(std::fabs(doubles[3] + 0.3) < 1e-15);
    CHECK(std::fabs(doubles[4] - 1e-12 * 0.886226925452758) < 1e-27);
}

// Every directed result is on its side of the exact one, and next to the nearest.
__global__ void directed(int* wrong) {
    unsigned bits = threadIdx.x * 2654435761u + 12345u;
    float a = __uint_as_float(0x3f800000u | bits >> 9), b = -0.37f * __uint_as_float(0x3f800000u | (bits * 7u) >> 9);
    double sum = double(a) + b, product = double(a) * b;
    bool good = __fadd_rd(a, b) <= sum && __fadd_ru(a, b) >= sum && __fmul_rd(a, b) <= product;
    good = good && __fmul_ru(a, b) >= product && std::fabs(__fmul_rz(a, b)) <= std::fabs(product);
    good = good && double(__fdiv_rd(a, b)) * b >= a && double(__fdiv_ru(a, b)) * b <= a;
    good = good && double(__fsqrt_rd(a)) * __fsqrt_rd(a) <= a && double(__fsqrt_ru(a)) * __fsqrt_ru(a) >= a;
    good = good && __fmaf_rd(a, b, a) <= product + a && __fmaf_ru(a, b, a) >= product + a;
    good = good && __fmul_ru(a, b) - __fmul_rd(a, b) <= 2.4e-7f;
    good = good && __double2float_rd(product) <= product && __double2float_ru(product) >= product;
    good = good && __int2float_rd(int(bits)) <= int(bits) && __uint2float_ru(bits) >= double(bits);
    good = good && float(__float2half_rd(b)) <= b && float(__float2half_ru(b)) >= b;
    if (!good) atomicAdd(wrong, 1);
}
static void check_directed() {
    int* wrong = zeros<int>(1);
    directed<<<1, 1024>>>(wrong);
    CHECK(fetched(wrong, 1)[0] == 0);
}

__global__ void packed(unsigned* out) {
    out[0] = __vadd4(0x01ff7f80u, 0x01010101u), out[1] = __vaddss4(0x017f8000u, 0x0101ff00u);
    out[2] = __vabsdiffu4(0x01050a00u, 0x05010a01u), out[3] = __vcmpeq2(0x00010002u, 0x00010003u);
    out[4] = __vmaxs2(0xffff0001u, 0x00000000u), out[5] = __vsubus4(0x01020304u, 0x02020202u);
    out[6] = unsigned(__dp2a_lo(0x00030002, 0x00000504, 1)), out[7] = __fns(0b101100u, 0, 2);
    out[8] = __funnelshift_lc(1, 2, 40), out[9] = unsigned(__dp4a(make_char4(1, -2, 3, 4), make_char4(1, 1, 1, -1), 5));
}
static void check_packed() {
    auto out = sent(std::vector<unsigned>(10));
    packed<<<1, 1>>>(out);
    const std::vector<unsigned> right = {0x02008081u, 0x027f8000u, 0x04040001u, 0xffff0000u, 0x00000001u,
                                         0x00000102u, 24u,         3u,          1u,          3u};
    CHECK(fetched(out, 10) == right);
}

__global__ void amd(int* out) {
    int lane = threadIdx.x;
    out[lane] = __builtin_amdgcn_update_dpp(-1, lane, 0x111, 0xf, 0xf, false);
    out[64 + lane] = __builtin_amdgcn_mov_dpp(lane, 0xb1, 0xf, 0xf, true);
    out[128 + lane] = __builtin_amdgcn_ds_swizzle(lane, 0x401f);
    out[192 + lane] = int(__builtin_amdgcn_rcpf(0.5f) + __builtin_amdgcn_fmed3f(3, 1, 2)) + __builtin_amdgcn_workitem_id_x();
}
static void check_amd() {
    int* out = zeros<int>(256);
    amd<<<1, 64>>>(out);
    auto got = fetched(out, 256);
    for (int lane = 0; lane < 64; ++lane) {
        CHECK(got[lane] == (lane % 16 ? lane - 1 : -1));
        CHECK(got[64 + lane] == (lane ^ 1));
        CHECK(got[128 + lane] == (lane ^ 16));
        CHECK(got[192 + lane] == 4 + lane);
    }
}

__device__ int sum_of_group(cg::thread_group group, int* scratch, int value) {
    int lane = group.thread_rank();
    for (int i = group.size() / 2; i > 0; i /= 2) {
        scratch[lane] = value;
        group.sync();
        if (lane < i) value += scratch[lane + i];
        group.sync();
    }
    return value;
}
template <unsigned Size> __device__ int width(const cg::thread_block_tile<Size>& tile) { return tile.size(); }
__global__ void groups(int* out) {
    __shared__ int scratch[64];
    auto block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    auto eight = cg::tiled_partition<8>(warp);
    int rank = threadIdx.x;
    out[rank] = cg::inclusive_scan(eight, rank) - cg::exclusive_scan(eight, rank, cg::plus<int>());
    out[64 + rank] = cg::reduce(warp, rank, cg::bit_or<int>()) + width(eight);
    auto odd = cg::binary_partition(warp, rank % 2 == 1);
    out[128 + rank] = cg::reduce(odd, rank, cg::less<int>()) * 100 + int(odd.size());
    auto same = cg::labeled_partition(warp, rank % 4);
    out[192 + rank] = int(same.thread_rank()) * 10 + same.any(rank == 5);
    int all = sum_of_group(block, scratch, rank), half = sum_of_group(cg::tiled_partition(block, 32), scratch + rank / 32 * 32, 1);
    if (rank == 0) out[256] = all, out[257] = half;
    if (rank % 3 == 0) {
        auto some = cg::coalesced_threads();
        out[258 + rank] = some.shfl_down(rank, 1) * 100 + int(some.ballot(rank > 30)  >> 11 & 1);
    }
}
static void check_groups() {
    int* out = zeros<int>(322);
    groups<<<1, 64>>>(out);
    auto got = fetched(out, 322);
    for (int rank = 0; rank < 64; ++rank) {
        CHECK(got[rank] == rank);
        CHECK(got[64 + rank] == (rank < 32 ? 31 : 63) + 8);
        CHECK(got[128 + rank] == (rank / 32 * 32 + rank % 2) * 100 + 16);
        CHECK(got[192 + rank] == rank % 32 / 4 * 10 + (rank < 32 && rank % 4 == 1));
        if (rank % 3 == 0) CHECK(got[258 + rank] == (rank < 63 ? rank + 3 : 63) * 100 + 1);
    }
    CHECK(got[256] == 2016 && got[257] == 32);
}

__global__ void small_floats(float* out) {
    __half2 a = __floats2half2_rn(1.5f, -2.0f), b = __floats2half2_rn(1.0f, 3.0f);
    out[0] = __hbgt2(a, b), out[1] = __low2float(__hgt2(a, b)), out[2] = float(__hmul_sat(__half(3.0f), __half(2.0f)));
    out[3] = __high2float(__hfma2_relu(a, b, b)), out[4] = __half2int_rd(__half(-1.5f)), out[5] = float(CUDART_INF_FP16);
    out[6] = __bfloat162float(__float2bfloat16_rz(1.00778f)), out[7] = __hge2_mask(a, b) == 0xffffu;
    out[8] = float(__nv_fp4_e2m1(2.5f)), out[9] = float(__nv_fp4_e2m1(-9.0f)), out[10] = cuCabsf(make_cuFloatComplex(3, 4));
    out[11] = CUDART_LN2_F, out[12] = HIP_vector_type<float, 4>{1, 2, 3, 4}.z;
    // A pair is less only if both halves are.
    __half2 c = __floats2half2_rn(1.0f, -3.0f);
    __hip_bfloat162 d = __floats2bfloat162_rn(1.0f, 2.0f);
    out[13] = (c < a) + 2 * (a < b) + 4 * (c <= b) + 8 * (a > c) + 16 * (a >= b) + 32 * (d <= d) + 64 * (d < d);
}
static void check_small_floats() {
    float* out = zeros<float>(14);
    small_floats<<<1, 1>>>(out);
    const std::vector<float> right = {0, 1, 1, 0, -2, INFINITY, 1.0f, 1, 2, -6, 5, 0.693147181f, 3, 45};
    CHECK(fetched(out, 14) == right);
}

__global__ void staged(const float* in, float* out) {
    __shared__ float tile[2][64];
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cg::this_thread_block();
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    block.sync();
    __pipeline_memcpy_async(&tile[0][threadIdx.x], &in[threadIdx.x], sizeof(float));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    barrier.arrive_and_wait();
    float first = tile[0][63 - threadIdx.x];
    auto pipe = cuda::make_pipeline(block, &state);
    pipe.producer_acquire();
    cuda::memcpy_async(block, tile[1], in + 64, sizeof(tile[1]), pipe);
    pipe.producer_commit();
    pipe.consumer_wait();
    out[threadIdx.x] = first + tile[1][63 - threadIdx.x];
    pipe.consumer_release();
    cuda::atomic_ref<float, cuda::thread_scope_device> total(out[64]);
    total.fetch_add(1.0f, cuda::memory_order_relaxed);
    cuda::std::array<int, 2> pair{1, 2};
    if (threadIdx.x == 0) out[65] = cuda::std::max(pair[0], pair[1]);
}
static void check_staged() {
    std::vector<float> in(128);
    for (int i = 0; i < 128; ++i) in[i] = float(i);
    float *device = sent(in), *out = zeros<float>(66);
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(1), config.blockDim = dim3(64);
    RUN(cudaLaunchKernelEx(&config, staged, device, out));
    auto got = fetched(out, 66);
    for (int i = 0; i < 64; ++i) CHECK(got[i] == float(63 - i + 127 - i));
    CHECK(got[64] == 64 && got[65] == 2);
}

__global__ __launch_bounds__(256, 2, 1) void nothing(int) {}
static void check_host() {
    cudaEvent_t start, stop;
    RUN(cudaEventCreate(&start, cudaEventBlockingSync));
    RUN(cudaEventCreate(&stop));
    hipExtLaunchKernelGGL(nothing, dim3(1), dim3(64), 0, nullptr, start, stop, 0, 3);
    float milliseconds = -1;
    RUN(cudaEventElapsedTime(&milliseconds, start, stop));
    CHECK(milliseconds >= 0);
    cudaMemPool_t pool;
    RUN(cudaDeviceGetDefaultMemPool(&pool, 0));
    float *pooled, *pinned, *seen;
    RUN(cudaMallocFromPoolAsync(&pooled, 64, pool, 0));
    RUN(cudaFreeAsync(pooled, 0));
    RUN(cudaHostAlloc(&pinned, 64, cudaHostAllocMapped));
    RUN(cudaHostGetDevicePointer(&seen, pinned, 0));
    CHECK(seen == pinned);
    RUN(cudaFreeHost(pinned));
    int grid, block;
    RUN(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &block, nothing, [](int size) { return size_t(size) * 128; }));
    CHECK(block == 256);
    int blocks;
    RUN(cudaDeviceGetAttribute(&blocks, cudaDevAttrMaxBlocksPerMultiprocessor, 0));
    CHECK(blocks == 32);
    int device = -1;
    RUN(hipStreamGetDevice(hipStreamLegacy, &device));
    CHECK(device == 0 && hipGetStreamDeviceId(hipStreamPerThread) == 0);
    static_assert(HIP_VERSION == HIP_VERSION_MAJOR * 10000000 + HIP_VERSION_MINOR * 100000 + HIP_VERSION_PATCH);
    static_assert(hipErrorPeerAccessNotEnabled == 705 && hipErrorTbd == 1054);
}

// The compiler's own type, which some processors round by an instruction and others by a call.
void check_bfloat16() {
    volatile float tie = 1 + 0x1p-8f, above = 1 + 0x1p-8f + 0x1p-20f, least = -0x1p-140f;
    volatile double just_above = 1 + 0x1p-8 + 0x1p-40, huge = 1e300, whole = -2.5;
    CHECK(static_cast<float>(static_cast<__bf16>(tie)) == 1 && static_cast<float>(static_cast<__bf16>(above)) == 1 + 0x1p-7f);
    CHECK(static_cast<float>(static_cast<__bf16>(just_above)) == 1 + 0x1p-7f);
    CHECK(static_cast<float>(static_cast<__bf16>(huge)) == __builtin_inff());
    CHECK(static_cast<float>(static_cast<__bf16>(whole)) == -2.5f && static_cast<float>(static_cast<__bf16>(least)) == 0);
    volatile float nan = __builtin_nanf("");
    CHECK(static_cast<float>(static_cast<__bf16>(nan)) != static_cast<float>(static_cast<__bf16>(nan)));
}

int main() {
    check_bfloat16();
    check_special();
    check_directed();
    check_packed();
    check_amd();
    check_groups();
    check_small_floats();
    check_staged();
    check_host();
    return failures != 0;
}
