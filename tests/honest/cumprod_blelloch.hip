// problem: cumprod
// A work-efficient scan with padded banks; the blocks' products are scanned by the host.
#include <hip/hip_runtime.h>
#include <vector>
#define LOG_BANKS 5
#define CF(i) ((i) >> LOG_BANKS)
__global__ void scan(const float* in, float* out, float* sums, int n) {
    __shared__ float t[1024 + 64];
    int tid = threadIdx.x, b = blockIdx.x * 1024;
    int a0 = tid, a1 = tid + 512;
    float v0 = b + a0 < n ? in[b + a0] : 1.f, v1 = b + a1 < n ? in[b + a1] : 1.f;
    t[a0 + CF(a0)] = v0;
    t[a1 + CF(a1)] = v1;
    int off = 1;
    for (int d = 512; d > 0; d >>= 1) {
        __syncthreads();
        if (tid < d) {
            int x = off * (2 * tid + 1) - 1, y = off * (2 * tid + 2) - 1;
            x += CF(x);
            y += CF(y);
            t[y] *= t[x];
        }
        off <<= 1;
    }
    if (tid == 0) {
        sums[blockIdx.x] = t[1023 + CF(1023)];
        t[1023 + CF(1023)] = 1.f;
    }
    for (int d = 1; d < 1024; d <<= 1) {
        off >>= 1;
        __syncthreads();
        if (tid < d) {
            int x = off * (2 * tid + 1) - 1, y = off * (2 * tid + 2) - 1;
            x += CF(x);
            y += CF(y);
            float k = t[x];
            t[x] = t[y];
            t[y] *= k;
        }
    }
    __syncthreads();
    if (b + a0 < n) out[b + a0] = t[a0 + CF(a0)] * v0;
    if (b + a1 < n) out[b + a1] = t[a1 + CF(a1)] * v1;
}
__global__ void mul(float* o, const float* pre, int n) {
    int i = blockIdx.x * 1024 + threadIdx.x;
    float p = pre[blockIdx.x];
    if (i < n) o[i] *= p;
    if (i + 512 < n) o[i + 512] *= p;
}
extern "C" void solution(const float* input, float* output, size_t N) {
    int nb = (N + 1023) / 1024;
    float* s;
    hipMalloc(&s, nb * 4);
    scan<<<nb, 512>>>(input, output, s, N);
    std::vector<float> h(nb);
    hipMemcpy(h.data(), s, nb * 4, hipMemcpyDeviceToHost);
    float r = 1;
    for (auto& v : h) {
        float k = v;
        v = r;
        r *= k;
    }
    hipMemcpy(s, h.data(), nb * 4, hipMemcpyHostToDevice);
    mul<<<nb, 512>>>(output, s, N);
    hipFree(s);
}
