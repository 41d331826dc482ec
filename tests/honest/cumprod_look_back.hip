// problem: cumprod
// decoupled look-back scan
#include <cuda_runtime.h>
#include <cstdint>
constexpr int BLOCK = 256, ITEMS = 4, CHUNK = BLOCK * ITEMS;
enum : uint32_t { EMPTY = 0, AGGREGATE = 1, PREFIX = 2 };
__device__ __forceinline__ unsigned long long pack(uint32_t flag, float v) { return (unsigned long long)flag << 32 | __float_as_uint(v); }
__global__ void scan_lookback(const float* __restrict__ in, float* __restrict__ out, size_t n, volatile unsigned long long* state, unsigned* ticket) {
    __shared__ unsigned s_tile;
    __shared__ float warp_sums[BLOCK / 32];
    __shared__ float s_prefix;
    if (threadIdx.x == 0) s_tile = atomicAdd(ticket, 1u);
    __syncthreads();
    const unsigned tile = s_tile;
    float v[ITEMS];
    size_t base = (size_t)tile * CHUNK + threadIdx.x * ITEMS;
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) v[i] = base + i < n ? in[base + i] : 1.f;
#pragma unroll
    for (int i = 1; i < ITEMS; ++i) v[i] *= v[i - 1];
    float incl = v[ITEMS - 1];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
#pragma unroll
    for (int o = 1; o < 32; o <<= 1) {
        float t = __shfl_up_sync(0xffffffff, incl, o);
        if (lane >= o) incl *= t;
    }
    if (lane == 31) warp_sums[warp] = incl;
    float excl = __shfl_up_sync(0xffffffff, incl, 1);
    if (lane == 0) excl = 1.f;
    __syncthreads();
    if (warp == 0) {
        float w = lane < BLOCK / 32 ? warp_sums[lane] : 1.f;
        for (int o = 1; o < BLOCK / 32; o <<= 1) {
            float t = __shfl_up_sync(0xffffffff, w, o);
            if (lane >= o) w *= t;
        }
        if (lane < BLOCK / 32) warp_sums[lane] = w;
    }
    __syncthreads();
    if (warp > 0) excl *= warp_sums[warp - 1];
    if (threadIdx.x == 0) {
        float total = warp_sums[BLOCK / 32 - 1], prefix = 1.f;
        if (tile == 0) {
            state[0] = pack(PREFIX, total);
        } else {
            state[tile] = pack(AGGREGATE, total);
            __threadfence();
            for (int t = (int)tile - 1; t >= 0;) {
                unsigned long long s = state[t];
                uint32_t flag = s >> 32;
                if (flag == EMPTY) continue;
                prefix *= __uint_as_float((uint32_t)s);
                if (flag == PREFIX) break;
                --t;
            }
            state[tile] = pack(PREFIX, prefix * total);
        }
        s_prefix = prefix;
    }
    __syncthreads();
    float p = s_prefix * excl;
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) if (base + i < n) out[base + i] = p * v[i];
}
extern "C" void solution(const float* input, float* output, size_t N) {
    unsigned tiles = (N + CHUNK - 1) / CHUNK;
    unsigned long long* state; unsigned* ticket;
    cudaMallocAsync((void**)&state, tiles * sizeof(*state), 0);
    cudaMallocAsync(&ticket, sizeof(unsigned), 0);
    cudaMemsetAsync(state, 0, tiles * sizeof(*state));
    cudaMemsetAsync(ticket, 0, sizeof(unsigned));
    scan_lookback<<<tiles, BLOCK>>>(input, output, N, state, ticket);
    cudaFreeAsync(state, 0);
    cudaFreeAsync(ticket, 0);
    cudaDeviceSynchronize();
}
