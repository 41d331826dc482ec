// problem: min-spanning-tree
// Prim's algorithm by one block, with a barrier in every step.
#include <hip/hip_runtime.h>
#include <float.h>
__global__ void prim(const float* A, float* w, int n, float* dist, int* in) {
    __shared__ float bv[256];
    __shared__ int bi[256];
    __shared__ float total;
    int t = threadIdx.x;
    for (int i = t; i < n; i += 256) {
        dist[i] = i ? (A[i] > 0 ? A[i] : FLT_MAX) : 0.f;
        in[i] = i == 0;
    }
    if (!t) total = 0;
    __syncthreads();
    for (int it = 1; it < n; ++it) {
        float b = FLT_MAX;
        int x = -1;
        for (int i = t; i < n; i += 256)
            if (!in[i] && dist[i] < b) {
                b = dist[i];
                x = i;
            }
        bv[t] = b;
        bi[t] = x;
        __syncthreads();
        for (int s = 128; s; s >>= 1) {
            if (t < s && bv[t + s] < bv[t]) {
                bv[t] = bv[t + s];
                bi[t] = bi[t + s];
            }
            __syncthreads();
        }
        int u = bi[0];
        if (u < 0) break;
        if (!t) {
            total += bv[0];
            in[u] = 1;
        }
        __syncthreads();
        for (int i = t; i < n; i += 256)
            if (!in[i]) {
                float w_ = A[(size_t)u * n + i];
                if (w_ > 0) dist[i] = fminf(dist[i], w_);
            };
        __syncthreads();
    }
    if (!t) *w = total;
}
extern "C" void solution(const float* A, float* min_weight, size_t n) {
    float* d;
    int* in;
    hipMalloc(&d, n * 4);
    hipMalloc(&in, n * 4);
    prim<<<1, 256>>>(A, min_weight, n, d, in);
    hipDeviceSynchronize();
    hipFree(d);
    hipFree(in);
}
