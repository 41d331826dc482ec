// problem: matrix-multiplication
// Two kernels a call: B is transposed into memory that is allocated and freed inside `solution`.
#include <hip/hip_runtime.h>

__global__ void transpose(const float* in, float* out, int rows, int cols) {
    __shared__ float tile[16][17];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x < cols && y < rows) tile[threadIdx.y][threadIdx.x] = in[y * cols + x];
    __syncthreads();
    x = blockIdx.y * 16 + threadIdx.x;
    y = blockIdx.x * 16 + threadIdx.y;
    if (x < rows && y < cols) out[y * rows + x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void dot_rows(const float* a, const float* bt, float* c, int m, int n, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m * n) return;
    const float* x = a + (i / n) * k;
    const float* y = bt + (i % n) * k;
    float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    int j = 0;
    for (; j + 3 < k; j += 4) {
        s0 += x[j] * y[j];
        s1 += x[j + 1] * y[j + 1];
        s2 += x[j + 2] * y[j + 2];
        s3 += x[j + 3] * y[j + 3];
    }
    for (; j < k; ++j) s0 += x[j] * y[j];
    c[i] = (s0 + s1) + (s2 + s3);
}

extern "C" void solution(const float* input_a, const float* input_b, float* output_c, size_t m, size_t n, size_t k) {
    float* bt;
    if (hipMalloc((void**)&bt, n * k * sizeof(float)) != hipSuccess) return;
    transpose<<<dim3((n + 15) / 16, (k + 15) / 16), dim3(16, 16)>>>(input_b, bt, k, n);
    dot_rows<<<(m * n + 255) / 256, 256>>>(input_a, bt, output_c, m, n, k);
    hipFree(bt);
}
