// problem: cumsum
// A scan in one pass: blocks draw tickets and look back through words that hold a sum and its state.
#include <hip/hip_runtime.h>
#include <cstdint>
struct __align__(8) Status {
    float value;
    uint32_t flag;
};
__device__ unsigned int g_ticket;
constexpr int BLOCK = 256, ITEMS = 8, TILE = BLOCK * ITEMS;
__global__ void reset(unsigned long long* st, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) st[i] = 0;
    if (i == 0) g_ticket = 0;
}
__device__ unsigned long long pack(float v, unsigned f) { return ((unsigned long long)f << 32) | __float_as_uint(v); }
__global__ void scan(const float* in, float* out, volatile unsigned long long* st, size_t n) {
    __shared__ unsigned tile_id;
    __shared__ float warp_tot[BLOCK / 32];
    __shared__ float prefix;
    if (threadIdx.x == 0) tile_id = atomicAdd(&g_ticket, 1u);
    __syncthreads();
    unsigned t = tile_id;
    size_t base = (size_t)t * TILE + threadIdx.x * ITEMS;
    float v[ITEMS];
    float run = 0;
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        run += base + i < n ? in[base + i] : 0.f;
        v[i] = run;
    }
    float incl = run;
    int lane = threadIdx.x & 31, wid = threadIdx.x >> 5;
    for (int d = 1; d < 32; d <<= 1) {
        float o = __shfl_up(incl, d, 32);
        if (lane >= d) incl += o;
    }
    // Not `incl - run`: where this thread's own sum is large, its rounding would be left in the sum of those before it.
    float before = __shfl_up(incl, 1, 32);
    if (lane == 0) before = 0;
    if (lane == 31) warp_tot[wid] = incl;
    __syncthreads();
    float wp = 0;
    for (int w = 0; w < wid; w++) wp += warp_tot[w];
    float tot = 0;
    if (threadIdx.x == 0) {
        for (int w = 0; w < BLOCK / 32; w++) tot += warp_tot[w];
        if (t == 0) {
            st[0] = pack(tot, 2);
            prefix = 0;
        } else {
            st[t] = pack(tot, 1);
            __threadfence();
            float p = 0;
            int j = t - 1;
            while (true) {
                unsigned long long s = st[j];
                unsigned f = s >> 32;
                if (f == 0) continue;
                p += __uint_as_float((unsigned)s);
                if (f == 2) break;
                --j;
            }
            st[t] = pack(p + tot, 2);
            prefix = p;
        }
    }
    __syncthreads();
    float excl = prefix + wp + before;
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        if (base + i < n) out[base + i] = excl + v[i];
}
extern "C" void solution(const float* input, float* output, size_t N) {
    int tiles = (N + TILE - 1) / TILE;
    unsigned long long* st;
    hipMalloc((void**)&st, tiles * sizeof(*st));
    reset<<<(tiles + 255) / 256, 256>>>(st, tiles);
    scan<<<tiles, BLOCK>>>(input, output, st, N);
    hipFree(st);
}
