#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
typedef _Float16 half4 __attribute__((ext_vector_type(4)));
typedef float vfloat4 __attribute__((ext_vector_type(4)));
__global__ void rows(const float* a, float* b, int n, int k) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    float s = 0;
    for (int i = 0; i < k; ++i) s += a[row * k + i];
    b[row] = s;
}
__global__ void aos(const float4* a, float* b) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = a[i * 8].x;
}
__global__ void transpose(const float* a, float* b, int n) {
    __shared__ float tile[32][32];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = a[y * n + x];
    __syncthreads();
    b[(blockIdx.x * 32 + threadIdx.y) * n + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
__global__ void doubles(const float* a, float* b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) b[i] = a[i] * 1.1 + sqrt(2.5 * a[i]);
}
__global__ void divides(const float* a, float* b, long n, long m) {
    long i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (long j = 0; j < n; ++j) s += a[(i + j) % m];
    b[i] = s;
}
__global__ void local_array(const float* a, float* b, int n) {
    float v[64];
    int i = threadIdx.x;
    for (int j = 0; j < 64; ++j) v[j] = a[i + 256 * j];
    float s = 0;
    for (int j = 0; j < n; ++j) s += v[(i * j) & 63];
    b[i] = s;
}
__global__ void spills(const float* a, float* b, int n) {
    float v[200];
#pragma unroll
    for (int j = 0; j < 200; ++j) v[j] = a[threadIdx.x + 1024 * j];
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 200; ++j) b[threadIdx.x + 1024 * j] = v[(j + 77) % 200] * v[199 - j];
}
__global__ __launch_bounds__(256) void big_lds(const float* a, float* b) {
    __shared__ float t[10000];
    for (int i = threadIdx.x; i < 10000; i += 256) t[i] = a[i];
    __syncthreads();
    b[threadIdx.x] = t[(int)a[threadIdx.x]];
}
__global__ void naive_matmul(const __half* a, const __half* b, float* c, int m, int n, int k) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || col >= n) return;
    float s = 0;
    for (int i = 0; i < k; ++i) s += __half2float(a[row * k + i]) * __half2float(b[i * n + col]);
    c[row * n + col] = s;
}
__global__ void mfma(const half4* a, vfloat4* b) {
    int i = threadIdx.x;
    vfloat4 acc = {0, 0, 0, 0};
    for (int k = 0; k < 16; k++) acc = __builtin_amdgcn_mfma_f32_16x16x16f16(a[i + k * 64], a[i + k * 64 + 64], acc, 0, 0, 0);
    b[i] = acc;
}
__global__ void assembly(float* b) {
    float x;
    asm volatile("v_mov_b32 %0, 1.0" : "=v"(x));
    b[threadIdx.x] = x;
}
template <class T, int N> __global__ void typed(T* p) { p[threadIdx.x] *= T(N); }
template __global__ void typed<float, 3>(float*);
extern "C" void solution(float* p) { typed<double, 4><<<1, 64>>>((double*)p); }
