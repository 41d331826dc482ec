// Atomics, integer and floating-point functions, vector types, 16-bit floats.
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>

__global__ void atomics(int* i, unsigned* u, float* f, double* d, unsigned long long* l) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&i[0], t), atomicSub(&i[1], 1), atomicMax(&i[2], t), atomicMin(&i[3], -t), atomicOr(&i[4], 1 << t % 8);
    atomicAnd(&i[5], ~(1 << t % 8)), atomicXor(&i[6], t), atomicExch(&i[7], 42), atomicCAS(&i[8], 0, 9);
    atomicInc(&u[0], 9), atomicDec(&u[1], 9), atomicMax(&u[2], unsigned(t)), atomicAdd(&u[3], 2u);
    atomicAdd(f, 0.5f), atomicMax(&f[1], float(t)), atomicMin(&f[2], -float(t)), atomicAdd(d, 0.25), atomicAdd(l, 1ull << 32);
}
__device__ float atomicMulByHand(float* address, float value) {
    int* bits = (int*)address;
    int old = *bits, assumed;
    do {
        assumed = old;
        old = atomicCAS(bits, assumed, __float_as_int(value * __int_as_float(assumed)));
    } while (assumed != old);
    return __int_as_float(old);
}
__global__ void products(float* f) { atomicMulByHand(f, 2.0f); }
__global__ void integers(long long* out) {
    out[0] = __popc(0xff00ff) + __popcll(~0ull), out[1] = __clz(1) + __clzll(1), out[2] = __ffs(8) * 10 + __ffsll(1ull << 40);
    out[3] = __brev(1u), out[4] = __umulhi(1u << 31, 4u), out[5] = __mul24(-3, 5), out[6] = __byte_perm(0x03020100, 0x07060504, 0x5140);
    out[7] = __funnelshift_l(0x80000000u, 1u, 1), out[8] = __sad(3, 10, 1), out[9] = max(3, 4u) + min(2.5f, 7), out[10] = __mulhi(-1, 5);
}
__global__ void floats(float* out, float x) {
    out[0] = __expf(x) + __logf(x), out[1] = __fdividef(x, 4), out[2] = rsqrtf(x), out[3] = __fmaf_rn(x, x, 1), out[4] = __saturatef(x);
    out[5] = __float2int_rn(2.5f) + __float2int_rz(-2.7f) + __float2int_ru(1.1f) + __float2int_rd(-1.1f);
    out[6] = std::sqrt(x) + std::max(x, 1.0f) + fmaxf(x, 3) + powf(x, 2), out[7] = tanhf(0) + erff(0) + floorf(x) + fabsf(-x);
    out[8] = __ldg(&out[1]), sincosf(0.0f, &out[9], &out[10]), out[11] = isnan(x / 0 * 0) + isinf(x / 0), out[12] = float(__float2int_rz(1e20f));
    out[13] = fminf(NAN, x) + rintf(2.5f) + truncf(-1.5f) + fmodf(7, 4) + copysignf(1, -x) + cbrtf(8) + hypotf(3, 4);
}
__global__ void exponentials(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = expf(in[i]);
}
__global__ void vectors(const float* in, float* out) {
    float4 v = reinterpret_cast<const float4*>(in)[threadIdx.x], w = make_float4(1, 2, 3, 4);
    v = v * 2.0f + w;
    v.x += 1, v /= 2.0f;
    reinterpret_cast<float4*>(out)[threadIdx.x] = v;
}
__global__ void small_floats(__half* h, __half2* h2, __hip_bfloat16* b, float* f) {
    int t = threadIdx.x;
    __shared__ __half staged[64];
    staged[t] = h[t] + __float2half(1.0f);
    __syncthreads();
    h[t] = __hfma(staged[63 - t], __half(2), hexp(__half(0.0f))) * 0.5f;
    h2[t] = __hadd2(h2[t], __floats2half2_rn(1, 2));
    b[t] = b[t] * __float2bfloat16(1.5f);
    f[t] = __bfloat162float(b[t]) + __high2float(h2[t]) + (h[t] > h2[t].x ? 1 : 0);
    atomicAdd(&h2[63], __float2half2_rn(0.0f));
}

int main() {
    int* i = sent(std::vector<int>{0, 0, 0, 0, 0, 255, 0, 0, 0});
    unsigned* u = sent(std::vector<unsigned>{0, 0, 0, 0});
    float* f = zeros<float>(256);
    double* d = zeros<double>(1);
    auto* l = zeros<unsigned long long>(1);
    atomics<<<10, 100>>>(i, u, f, d, l);
    auto a = fetched(i, 9);
    int x = 0;
    for (int t = 0; t < 1000; ++t) x ^= t;
    CHECK(a[0] == 499500 && a[1] == -1000 && a[2] == 999 && a[3] == -999 && a[4] == 255 && a[5] == 0 && a[6] == x && a[7] == 42 && a[8] == 9);
    CHECK(fetched(u, 4)[0] == 0 && fetched(u, 4)[1] == 0 && fetched(u, 4)[2] == 999 && fetched(u, 4)[3] == 2000);
    CHECK(fetched(f, 3)[0] == 500 && fetched(f, 3)[1] == 999 && fetched(f, 3)[2] == -999);
    CHECK(fetched(d, 1)[0] == 250 && fetched(l, 1)[0] == 1000ull << 32);
    float* p = sent(std::vector<float>{1});
    products<<<2, 8>>>(p);
    CHECK(fetched(p, 1)[0] == 65536);

    long long* n = zeros<long long>(16);
    integers<<<1, 1>>>(n);
    auto g = fetched(n, 16);
    CHECK(g[0] == 16 + 64 && g[1] == 31 + 63 && g[2] == 40 + 41 && g[3] == 0x80000000ll && g[4] == 2 && g[5] == -15);
    CHECK(g[6] == 0x05010400 && g[7] == 3 && g[8] == 8 && g[9] == 6 && g[10] == -1);
    floats<<<1, 1>>>(f, 4.0f);
    auto r = fetched(f, 16);
    CHECK(std::fabs(r[0] - (std::exp(4.0) + std::log(4.0))) < 1e-4 && r[1] == 1 && r[2] == 0.5f && r[3] == 17 && r[4] == 1);
    CHECK(r[5] == 2 - 2 + 2 - 2 && r[6] == 2 + 4 + 4 + 16 && r[7] == 8 && r[8] == 1 && r[9] == 0 && r[10] == 1);
    CHECK(r[11] == 2 && r[12] == 2147483648.0f && r[13] == 4 + 2 - 1 + 3 - 1 + 2 + 5);
    std::vector<float> powers;
    for (int k = -11000; k <= 9000; k += 3) powers.push_back(k / 100.0f);
    for (float special : {INFINITY, -INFINITY, NAN, 0.0f, -0.0f, 1e-30f}) powers.push_back(special);
    int many = int(powers.size());
    float* big = zeros<float>(many);
    exponentials<<<(many + 255) / 256, 256>>>(sent(powers), big, many);
    auto raised = fetched(big, many);
    for (int k = 0; k < many; ++k) {
        double exact = std::exp(double(powers[k]));
        bool close = std::fabs(raised[k] - exact) <= exact * 2.4e-7 + 1.5e-45 || float(exact) == raised[k];
        CHECK(close || (std::isnan(exact) && std::isnan(raised[k])));
    }
    std::vector<float> values(256);
    for (int k = 0; k < 256; ++k) values[k] = k;
    vectors<<<1, 64>>>(sent(values), f);
    CHECK(fetched(f, 256)[0] == 1 && fetched(f, 256)[255] == 257);

    std::vector<__half> hs(64);
    std::vector<__half2> h2s(64);
    std::vector<__hip_bfloat16> bs(64);
    for (int k = 0; k < 64; ++k) hs[k] = k * 0.25f, h2s[k] = __floats2half2_rn(k, -k), bs[k] = float(k);
    auto *h = sent(hs);
    auto *h2 = sent(h2s);
    auto *b = sent(bs);
    small_floats<<<1, 64>>>(h, h2, b, f);
    CHECK(float(fetched(h, 64)[0]) == (15.75f + 1) + 0.5f && float(fetched(h2, 64)[10].x) == 11 && float(fetched(b, 64)[10]) == 15);
    CHECK(fetched(f, 64)[10] == 15 - 8 + 1 && fetched(f, 64)[60] == 90 - 58);
    CHECK(float(__hip_bfloat16(1.00390625f)) == 1.0f && float(__hip_bfloat16(1.01171875f)) == 1.015625f && float(__half(1e6f)) == INFINITY);
    RUN(hipGetLastError());
    return failures;
}
