#include <hip/hip_runtime.h>

__global__ void reads_output(const float* in, float* out, int n) {
    int i = threadIdx.x;
    if (i < n)
        out[i] += in[i];  // EXPECT uninitialised read
}

__global__ void counts(const int* keys, int* histogram, int n) {
    int i = threadIdx.x;
    if (i < n) atomicAdd(&histogram[keys[i] & 7], 1);  // EXPECT uninitialised atomic
}

__global__ void lds_histogram(const int* keys, int* out, int n) {
    __shared__ int bins[8];
    int i = threadIdx.x;
    if (i < n) atomicAdd(&bins[keys[i] & 7], 1);  // EXPECT uninitialised atomic
    __syncthreads();
    if (i < 8) out[i] = bins[i];  // EXPECT uninitialised read
}

__global__ void half_a_tile(const float* in, float* out) {
    __shared__ float tile[64];
    if (threadIdx.x < 32) tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x];  // EXPECT uninitialised read
}

__global__ void tail(const float* partial, float* out, int blocks) {
    float sum = 0;
    for (int i = 0; i < blocks; ++i)
        sum += partial[i];  // EXPECT uninitialised read
    *out = sum;
}

__global__ void partials(const float* in, float* partial) {
    if (threadIdx.x == 0 && blockIdx.x > 0) partial[blockIdx.x] = in[blockIdx.x];
}

int main() {
    const int n = 64;
    float *in, *out, *other, *partial;
    int *keys, *bins, *result;
    hipMalloc(&in, n * sizeof(float));
    hipMalloc(&out, n * sizeof(float));
    hipMalloc(&other, n * sizeof(float));
    hipMalloc(&partial, n * sizeof(float));
    hipMalloc(&keys, n * sizeof(int));
    hipMalloc(&bins, 8 * sizeof(int));
    hipMalloc(&result, 8 * sizeof(int));
    hipMemset(in, 0, n * sizeof(float));
    hipMemset(keys, 0, n * sizeof(int));
    reads_output<<<1, 64>>>(in, out, n);
    counts<<<1, 64>>>(keys, bins, n);
    lds_histogram<<<1, 64>>>(keys, result, n);
    half_a_tile<<<1, 64>>>(in, other);
    partials<<<4, 64>>>(in, partial);
    tail<<<1, 1>>>(partial, out, 4);
    return 0;
}
