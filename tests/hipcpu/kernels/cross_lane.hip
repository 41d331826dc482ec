// Shuffles and votes on wavefronts of 64, with widths, masks, divergence and cooperative groups.
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void shuffles(int* out) {
    int lane = threadIdx.x % 64, base = threadIdx.x * 8;
    out[base + 0] = __shfl(lane, 5);
    out[base + 1] = __shfl(lane, 5, 32);
    out[base + 2] = __shfl_up(lane, 3);
    out[base + 3] = __shfl_down(lane, 3, 32);
    out[base + 4] = __shfl_xor(lane, 17);
    out[base + 5] = __shfl_down_sync(0xffffffff, lane, 16);
    out[base + 6] = __shfl_sync(~0ull, lane * 2, lane + 1);
    out[base + 7] = int(__shfl_xor(double(lane) + 0.5, 1) * 2);
}
__global__ void votes(unsigned long long* out, int n) {
    int lane = threadIdx.x % 64;
    unsigned long long ballot = __ballot(lane % 3 == 0);
    int any = __any(lane == n), all = __all(lane < 64);
    unsigned long long active = __activemask(), same = __match_any_sync(~0ull, lane / 16);
    if (lane == 20) {
        out[0] = ballot, out[1] = any, out[2] = all, out[3] = active, out[4] = same;
        out[5] = warpSize, out[6] = __popcll(ballot), out[7] = __lane_id();
    }
}
__global__ void divergent(int* out) {
    int lane = threadIdx.x, value = lane;
    if (lane % 2) value = __shfl_down(value, 2);
    else value = int(__popcll(__ballot(1)));
    if (lane < 10) value += 100 * int(__popcll(__activemask()));
    out[lane] = value + __shfl(lane, 63) * 10000;
}
__global__ void partial_wave(int* out) {
    int sum = threadIdx.x + 1;
    for (int delta = 32; delta > 0; delta >>= 1) sum += __shfl_down(sum, delta);
    if (threadIdx.x == 0) out[0] = sum;
    out[1 + threadIdx.x] = __popcll(__ballot(1));
}
__global__ void exited_lanes(int* out) {
    if (threadIdx.x >= 40) return;
    int sum = 1;
    for (int delta = 32; delta > 0; delta >>= 1) sum += __shfl_xor(sum, delta);
    out[threadIdx.x] = sum;
}
__device__ float block_sum(float value) {
    __shared__ float part[16];
    for (int delta = warpSize / 2; delta > 0; delta /= 2) value += __shfl_down(value, delta);
    if (threadIdx.x % warpSize == 0) part[threadIdx.x / warpSize] = value;
    __syncthreads();
    int waves = (blockDim.x + warpSize - 1) / warpSize;
    value = threadIdx.x < waves ? part[threadIdx.x] : 0;
    if (threadIdx.x < warpSize)
        for (int delta = 8; delta > 0; delta /= 2) value += __shfl_down(value, delta);
    return value;
}
__global__ void block_sums(const float* in, float* out, int n) {
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) atomicAdd(out, sum);
}
__global__ void wave_scan(const int* in, int* out) {
    int value = in[threadIdx.x], lane = threadIdx.x % 64;
    for (int delta = 1; delta < 64; delta *= 2) {
        int other = __shfl_up(value, delta);
        if (lane >= delta) value += other;
    }
    out[threadIdx.x] = value;
}
__global__ void groups(int* out) {
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<16>(block);
    int sum = cg::reduce(tile, int(threadIdx.x), cg::plus<int>());
    block.sync();
    out[threadIdx.x] = sum + 100000 * tile.thread_rank() + (tile.any(threadIdx.x == 5) ? 10000000 : 0);
}
__global__ void loop_by_wave(int* out) {
    int wave = threadIdx.x / 64, total = 0;
    for (int i = 0; i <= wave; ++i) total += __shfl(int(threadIdx.x) + i, 0);
    __syncthreads();
    out[threadIdx.x] = total;
}
// As written for wavefronts of 32: a mask of 32 bits names lanes of the caller's half, and others may be elsewhere.
__global__ void halves(int* out) {
    int lane = threadIdx.x % 32, value = threadIdx.x;
    unsigned ballot = __ballot_sync(0xffffffff, threadIdx.x % 3 == 0), same = __match_any_sync(0xffffffffu, lane / 16);
    uint sum = __reduce_add_sync(0xffffffffu, 1u);
    out[4 * threadIdx.x] = ballot, out[4 * threadIdx.x + 1] = __ffs(same), out[4 * threadIdx.x + 2] = sum;
    if (threadIdx.x < 8)
        for (int bits = 4; bits > 0; bits /= 2) value += __shfl_xor_sync(0xff, value, bits);
    __syncthreads();
    if (threadIdx.x >= 32)
        for (int delta = 16; delta > 0; delta /= 2) value += __shfl_down_sync(0xffffffff, value, delta);
    __syncthreads();
    out[4 * threadIdx.x + 3] = value;
}
// No barrier between the steps: lanes of a wavefront are in step.
__device__ void last_wave(volatile int* sums, unsigned t) {
    for (int step = 32; step > 0; step /= 2) sums[t] += sums[t + step];
}
__global__ void reduction_in_step(int* out) {
    __shared__ int sums[256 + 32];
    unsigned t = threadIdx.x;
    sums[t] = t;
    if (t < 32) sums[t + 256] = 0;
    __syncthreads();
    if (t < 128) sums[t] += sums[t + 128];
    __syncthreads();
    if (t < 64) sums[t] += sums[t + 64];
    __syncthreads();
    if (t < 32) last_wave(sums, t);
    if (t == 0) out[blockIdx.x] = sums[0];
}
__global__ void rotation_in_step(int* out) {
    extern __shared__ int dynamic[];
    volatile int* mine = dynamic + threadIdx.x / 64 * 64;
    int lane = threadIdx.x % 64;
    mine[lane] = threadIdx.x;
    for (int i = 0; i < 3; ++i) mine[lane] = mine[(lane + 1) % 64];
    out[threadIdx.x] = mine[lane];
}

int main() {
    int* n = zeros<int>(4096);
    shuffles<<<1, 128>>>(n);
    auto s = fetched(n, 1024);
    CHECK(s[8 * 40] == 5 && s[8 * 40 + 1] == 37 && s[8 * 40 + 2] == 37 && s[8 * 1 + 2] == 1);
    CHECK(s[8 * 40 + 3] == 43 && s[8 * 30 + 3] == 30 && s[8 * 40 + 4] == (40 ^ 17) && s[8 * 20 + 5] == 36);
    CHECK(s[8 * 60 + 5] == 60 && s[8 * 63 + 6] == 0 && s[8 * 10 + 6] == 22 && s[8 * 10 + 7] == 23);
    CHECK(s[8 * 104] == 5 && s[8 * 104 + 2] == 37);

    auto* v = zeros<unsigned long long>(8);
    votes<<<1, 64>>>(v, 63);
    auto o = fetched(v, 8);
    CHECK(o[0] == 0x9249249249249249ull && o[1] == 1 && o[2] == 1 && o[3] == ~0ull && o[4] == 0xffffull << 16);
    CHECK(o[5] == 64 && o[6] == 22 && o[7] == 20);
    divergent<<<1, 64>>>(n);
    auto d = fetched(n, 64);
    CHECK(d[0] == 630000 + 1000 + 32 && d[3] == 630000 + 1000 + 5 && d[20] == 630032 && d[33] == 630035);
    partial_wave<<<1, 100>>>(n);
    CHECK(fetched(n, 101)[0] == 64 * 65 / 2 && fetched(n, 101)[1] == 64 && fetched(n, 101)[100] == 36);
    exited_lanes<<<1, 64>>>(n);
    CHECK(fetched(n, 40)[0] == 40 && fetched(n, 40)[39] == 16);

    std::vector<float> ones(10007, 1.0f);
    float *in = sent(ones), *out = zeros<float>(1);
    block_sums<<<7, 256>>>(in, out, 10007);
    CHECK(fetched(out, 1)[0] == 10007);
    RUN(hipMemset(out, 0, 4));
    block_sums<<<3, 1024>>>(in, out, 10007);
    CHECK(fetched(out, 1)[0] == 10007);
    int* counts = sent(std::vector<int>(256, 2));
    wave_scan<<<1, 256>>>(counts, n);
    CHECK(fetched(n, 256)[63] == 128 && fetched(n, 256)[64] == 2 && fetched(n, 256)[200] == 18);
    groups<<<1, 64>>>(n);
    CHECK(fetched(n, 64)[3] == 120 + 300000 + 10000000 && fetched(n, 64)[17] == 376 + 100000);
    loop_by_wave<<<1, 256>>>(n);
    auto w = fetched(n, 256);
    CHECK(w[0] == 0 && w[64] == 64 + 65 && w[200] == 192 * 4 + 6);
    halves<<<1, 64>>>(n);
    auto h = fetched(n, 256);
    CHECK(h[0] == 0x49249249 && h[4 * 40] == int(0x92492492) && h[4 * 45 + 1] == 1 && h[4 * 20 + 1] == 17);
    CHECK(h[2] == 32 && h[4 * 33 + 2] == 32 && h[3] == 28 && h[4 * 32 + 3] == 32 * 95 / 2);
    reduction_in_step<<<2, 256>>>(n);
    CHECK(fetched(n, 2)[0] == 255 * 128 && fetched(n, 2)[1] == 255 * 128);
    rotation_in_step<<<1, 128, 512>>>(n);
    auto r = fetched(n, 128);
    CHECK(r[0] == 3 && r[63] == 2 && r[64] == 67 && r[126] == 65);
    RUN(hipGetLastError());
    return failures;
}
