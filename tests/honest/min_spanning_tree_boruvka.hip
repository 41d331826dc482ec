// problem: min-spanning-tree
// Boruvka with 64-bit atomicMin keys and pointer jumping, host loop with flag
#include <cuda_runtime.h>
#include <cstdint>
typedef unsigned long long u64;
__global__ void init(int* comp, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) comp[i] = i; }
__global__ void reset(u64* best, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) best[i] = ~0ull; }
__global__ void find_min(const float* A, const int* comp, u64* best, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x, u = blockIdx.y;
    if (v >= n || comp[u] == comp[v]) return;
    float w = A[(size_t)u * n + v];
    if (w <= 0) return;
    int lo = min(u, v), hi = max(u, v);
    u64 key = (u64)__float_as_uint(w) << 32 | (unsigned)(lo * n + hi);
    atomicMin(&best[comp[u]], key);
}
__global__ void hook(const u64* best, int* comp, int* parent, float* total, int n) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= n) return;
    parent[c] = c;
    if (best[c] == ~0ull || comp[c] != c) return;
    unsigned e = (unsigned)best[c];
    int a = comp[e / n], b = comp[e % n], o = a == c ? b : a;
    if (best[o] == best[c] && o > c) return;
    parent[c] = o;
    atomicAdd(total, __uint_as_float((unsigned)(best[c] >> 32)));
}
__global__ void jump(int* parent, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { int p = i; while (((volatile int*)parent)[p] != p) p = ((volatile int*)parent)[p]; parent[i] = p; } }
__global__ void relabel(int* comp, const int* parent, int n, int* changed) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { int p = parent[comp[i]]; if (p != comp[i]) { comp[i] = p; *changed = 1; } } }
extern "C" void solution(const float* A, float* min_weight, size_t n_) {
    int n = (int)n_; int *comp, *parent, *changed; u64* best;
    cudaMalloc(&comp, n * 4); cudaMalloc(&parent, n * 4); cudaMallocManaged(&changed, 4); cudaMalloc(&best, n * 8);
    int g = (n + 127) / 128;
    init<<<g, 128>>>(comp, n);
    do {
        *changed = 0;
        reset<<<g, 128>>>(best, n);
        find_min<<<dim3(g, n), 128>>>(A, comp, best, n);
        hook<<<g, 128>>>(best, comp, parent, min_weight, n);
        jump<<<g, 128>>>(parent, n);
        relabel<<<g, 128>>>(comp, parent, n, changed);
        cudaDeviceSynchronize();
    } while (*changed);
    cudaFree(comp); cudaFree(parent); cudaFree(changed); cudaFree(best);
}
