// problem: scaled-dot-attention
// Tiles of keys with a running maximum, as FlashAttention has them.
#include <hip/hip_runtime.h>
#include <cmath>
template <int BR, int BC>
__global__ void flash(const float* Q, const float* K, const float* V, float* O, int S, int E, float scale) {
    extern __shared__ char raw[];
    float* q = reinterpret_cast<float*>(raw);
    float* k = q + BR * E;
    float* v = k + BC * E;
    float* s = v + BC * E;
    size_t off = (size_t)blockIdx.y * S * E;
    int r0 = blockIdx.x * BR, t = threadIdx.x;
    for (int i = t; i < BR * E; i += BR) q[i] = r0 + i / E < S ? Q[off + (size_t)r0 * E + i] : 0.f;
    float m = -INFINITY, l = 0.f;
    float o[128];
    for (int e = 0; e < E; e++) o[e] = 0.f;
    for (int c0 = 0; c0 < S; c0 += BC) {
        __syncthreads();
        for (int i = t; i < BC * E; i += BR) {
            bool ok = c0 + i / E < S;
            k[i] = ok ? K[off + (size_t)c0 * E + i] : 0.f;
            v[i] = ok ? V[off + (size_t)c0 * E + i] : 0.f;
        }
        __syncthreads();
        float mn = m;
        int nc = min(BC, S - c0);
        for (int c = 0; c < nc; c++) {
            float d = 0;
            for (int e = 0; e < E; e++) d += q[t * E + e] * k[c * E + e];
            d *= scale;
            s[t * BC + c] = d;
            mn = fmaxf(mn, d);
        }
        float corr = exp2f((m - mn) * (float)M_LOG2E);
        l *= corr;
        for (int e = 0; e < E; e++) o[e] *= corr;
        for (int c = 0; c < nc; c++) {
            float p = __expf(s[t * BC + c] - mn);
            l += p;
            for (int e = 0; e < E; e++) o[e] += p * v[c * E + e];
        }
        m = mn;
    }
    if (r0 + t < S)
        for (int e = 0; e < E; e++) O[off + (size_t)(r0 + t) * E + e] = o[e] / l;
}
extern "C" void solution(const float* Q, const float* K, const float* V, float* output, size_t B, size_t H, size_t S,
                         size_t E) {
    constexpr int BR = 32, BC = 32;
    size_t sm = (BR * E + 2 * BC * E + BR * BC) * sizeof(float);
    flash<BR, BC><<<dim3((S + BR - 1) / BR, B * H), BR, sm>>>(Q, K, V, output, S, E, rsqrtf((float)E));
}
