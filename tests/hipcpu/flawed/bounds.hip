// Each line that is wrong says what must be found there, and nothing else may be.
#include <hip/hip_runtime.h>

__global__ void off_by_one(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n)
        out[i] = 2 * in[i];  // EXPECT out-of-bounds read, out-of-bounds write
}

__global__ void no_guard(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? in[i] : 0;
    out[i] = v;  // EXPECT out-of-bounds write
}

__global__ void halo(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float left = in[i - 1];  // EXPECT out-of-bounds read
    out[i] = left + in[i];
}

__global__ void last_tile(const float* in, float* out, int n) {
    __shared__ float tile[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    tile[threadIdx.x] =
        in[i];  // EXPECT out-of-bounds read
    __syncthreads();
    if (i < n) out[i] = tile[threadIdx.x];
}

__global__ void lds_overflow(float* out) {
    __shared__ float tile[64];
    __shared__ float next[64];
    next[threadIdx.x] = 0;
    tile[threadIdx.x + 1] = 1;  // EXPECT out-of-bounds write
    __syncthreads();
    if (threadIdx.x > 0) out[threadIdx.x] = tile[threadIdx.x] + next[threadIdx.x];
}

__global__ void dynamic_overflow(float* out) {
    extern __shared__ float scratch[];
    scratch[threadIdx.x] = 1;
    scratch[threadIdx.x + 64] = 2;  // EXPECT out-of-bounds write
    out[threadIdx.x] = scratch[threadIdx.x];
}

__constant__ float taps[5];
__device__ int totals[4];

__global__ void filter(const float* in, float* out, int n) {
    int i = threadIdx.x;
    float sum = 0;
    for (int k = 0; k <= 5; ++k)
        sum += taps[k];  // EXPECT out-of-bounds read
    if (i < n) out[i] = sum * in[i];
}

__global__ void device_variable(int at) {
    atomicAdd(&totals[at], 1);  // EXPECT out-of-bounds atomic
}

__global__ void after_free(const float* freed, float* out) {
    out[threadIdx.x] = freed[threadIdx.x];  // EXPECT use-after-free read
}

__global__ void from_host(const float* host, float* out) {
    out[threadIdx.x] = host[threadIdx.x];  // EXPECT no-device-memory read
}

__global__ void misaligned(const float* in, float* out) {
    const float4 four = *reinterpret_cast<const float4*>(in + 1 + 4 * threadIdx.x);  // EXPECT misaligned read
    out[threadIdx.x] = four.x + four.w;
}

__global__ void in_a_function(const float* in, float* out, int n) {
    int i = threadIdx.x;
    out[i] = __ldg(in + n);  // EXPECT out-of-bounds read
}

struct Pair {
    float value;
    int index;
};

__global__ void structs(const Pair* in, Pair* out, int n) {
    int i = threadIdx.x;
    if (i < n) out[i + 1] = in[i];  // EXPECT out-of-bounds write
}

int main() {
    const int n = 100;
    float *in, *out, *freed;
    Pair *pairs, *others;
    hipMalloc(&in, n * sizeof(float));
    hipMalloc(&out, n * sizeof(float));
    hipMalloc(&freed, n * sizeof(float));
    hipMalloc(&pairs, n * sizeof(Pair));
    hipMalloc(&others, n * sizeof(Pair));
    hipMemset(in, 0, n * sizeof(float));
    hipMemset(freed, 0, n * sizeof(float));
    hipMemset(pairs, 0, n * sizeof(Pair));
    hipFree(freed);
    off_by_one<<<2, 64>>>(in, out, n);
    no_guard<<<2, 64>>>(in, out, n);
    halo<<<2, 64>>>(in, out, n);
    last_tile<<<2, 64>>>(in, out, n);
    lds_overflow<<<1, 64>>>(out);
    dynamic_overflow<<<1, 64, 64 * sizeof(float)>>>(out);
    filter<<<1, 64>>>(in, out, n);
    device_variable<<<1, 1>>>(4);
    after_free<<<1, 64>>>(freed, out);
    float* host = new float[64]();
    from_host<<<1, 64>>>(host, out);
    misaligned<<<1, 4>>>(in, out);
    in_a_function<<<1, 1>>>(in, out, n);
    structs<<<1, 128>>>(pairs, others, n);
    return 0;
}
