// problem: shortest-path
// A loop on the host with a flag copied back each time, and two buffers that swap.
#include <hip/hip_runtime.h>
#include <utility>

__global__ void start(float* d, int source, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n) d[v] = v == source ? 0.0f : 1e30f;
}

__global__ void relax(const float* w, const float* from, float* to, int* changed, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    float best = from[v];
    for (int u = 0; u < n; ++u) {
        float weight = w[u * n + v];
        if (weight > 0.0f && from[u] + weight < best) best = from[u] + weight;
    }
    if (best < from[v]) *changed = 1;
    to[v] = best;
}

__global__ void finish(const float* d, float* out, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n) out[v] = d[v] >= 1e30f ? -1.0f : d[v];
}

extern "C" void solution(const float* d_adj_matrix, int source, float* d_distances, size_t n) {
    float *a, *b;
    int* changed;
    hipMalloc(&a, n * sizeof(float));
    hipMalloc(&b, n * sizeof(float));
    hipMalloc(&changed, sizeof(int));
    const int threads = 128, blocks = (n + threads - 1) / threads;
    start<<<blocks, threads>>>(a, source, n);
    for (size_t round = 0; round < n; ++round) {
        int host = 0;
        hipMemcpy(changed, &host, sizeof host, hipMemcpyHostToDevice);
        relax<<<blocks, threads>>>(d_adj_matrix, a, b, changed, n);
        hipMemcpy(&host, changed, sizeof host, hipMemcpyDeviceToHost);
        std::swap(a, b);
        if (!host) break;
    }
    finish<<<blocks, threads>>>(a, d_distances, n);
    hipFree(a);
    hipFree(b);
    hipFree(changed);
}
