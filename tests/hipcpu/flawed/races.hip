// A race is at two lines; the mark stands at one of them.
#include <hip/hip_runtime.h>

__global__ void no_barrier(const float* in, float* out) {
    __shared__ float tile[256];
    int t = threadIdx.x;
    tile[t] = in[t];
    out[t] = tile[255 - t];  // EXPECT race
}

__global__ void one_barrier_in_a_loop(const float* in, float* out) {
    __shared__ float tile[256];
    int t = threadIdx.x;
    float sum = 0;
    for (int step = 0; step < 3; ++step) {
        tile[t] = in[t] + step;  // EXPECT race
        __syncthreads();
        sum += tile[255 - t];
    }
    out[t] = sum;
}

__global__ void reduction(const float* in, float* out) {
    __shared__ float sums[256];
    int t = threadIdx.x;
    sums[t] = in[t];
    __syncthreads();
    for (int half = 128; half > 0; half /= 2)
        if (t < half) sums[t] += sums[t + half];  // EXPECT race
    if (t == 0) *out = sums[0];
}

__global__ void scan_in_place(float* data) {
    int t = threadIdx.x;
    for (int step = 64; step < 256; step *= 2) {
        float add = t >= step ? data[t - step] : 0;
        data[t] += add;  // EXPECT race
        __syncthreads();
    }
}

__global__ void wave_sums(const float* in, float* out) {
    __shared__ float sums[4];
    float sum = in[threadIdx.x];
    for (int step = 32; step > 0; step /= 2) sum += __shfl_down(sum, step);
    if (threadIdx.x % 64 == 0) sums[threadIdx.x / 64] = sum;
    if (threadIdx.x == 255) *out = sums[0] + sums[1] + sums[2] + sums[3];  // EXPECT race
}

__global__ void lost_update(const float* in, float* sum) {
    __shared__ float total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    total += in[threadIdx.x];  // EXPECT race
    __syncthreads();
    if (threadIdx.x == 0) *sum = total;
}

__global__ void late_zero(const int* keys, int* out) {
    __shared__ int bins[256];
    bins[threadIdx.x] = 0;
    atomicAdd(&bins[keys[threadIdx.x] & 255], 1);  // EXPECT race
    __syncthreads();
    out[threadIdx.x] = bins[threadIdx.x];
}

__global__ void reads_counter_early(const int* keys, int* out) {
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    if (keys[threadIdx.x] >= 0) atomicAdd(&count, 1);
    if (threadIdx.x == 255) *out = count;  // EXPECT race
}

__global__ void transpose(float* matrix) {
    int x = threadIdx.x % 16, y = threadIdx.x / 16;
    float v = matrix[y * 16 + x];
    matrix[x * 16 + y] = v;  // EXPECT race
}

__global__ void sum_of_all(const float* in, float* out) {
    if (threadIdx.x == 0) *out += in[blockIdx.x];  // EXPECT race-between-blocks
}

__global__ void zeroed_by_the_first(const float* in, float* out) {
    if (blockIdx.x == 0 && threadIdx.x == 0) *out = 0;
    if (threadIdx.x == 0) atomicAdd(out, in[blockIdx.x]);  // EXPECT race-between-blocks
}

__global__ void shift_left(float* data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float next = i + 1 < n ? data[i + 1] : 0;
    __syncthreads();
    data[i] = next;  // EXPECT race-between-blocks
}

__global__ void last_block_without_fence(const float* in, float* partial, unsigned* count, float* out) {
    __shared__ bool is_last;
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = in[blockIdx.x];
        is_last = atomicAdd(count, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last && threadIdx.x == 0) {
        float sum = 0;
        for (int i = 0; i < gridDim.x; ++i)
            sum += partial[i];  // EXPECT race-between-blocks
        *out = sum;
    }
}

int main() {
    const int n = 256;
    float host[n];
    int keys_host[n];
    for (int i = 0; i < n; ++i) host[i] = i * 0.37f + 1, keys_host[i] = i * 7;
    float *in, *out, *data, *one;
    int *keys, *counts;
    unsigned* count;
    hipMalloc(&in, sizeof(host));
    hipMalloc(&out, sizeof(host));
    hipMalloc(&data, sizeof(host));
    hipMalloc(&one, sizeof(float));
    hipMalloc(&keys, sizeof(keys_host));
    hipMalloc(&counts, sizeof(keys_host));
    hipMalloc(&count, sizeof(unsigned));
    hipMemcpy(in, host, sizeof(host), hipMemcpyHostToDevice);
    hipMemcpy(data, host, sizeof(host), hipMemcpyHostToDevice);
    hipMemcpy(keys, keys_host, sizeof(keys_host), hipMemcpyHostToDevice);
    hipMemset(count, 0, sizeof(unsigned));
    no_barrier<<<1, n>>>(in, out);
    one_barrier_in_a_loop<<<1, n>>>(in, out);
    reduction<<<1, n>>>(in, out);
    scan_in_place<<<1, n>>>(data);
    wave_sums<<<1, n>>>(in, out);
    lost_update<<<1, n>>>(in, out);
    late_zero<<<1, n>>>(keys, counts);
    reads_counter_early<<<1, n>>>(keys, counts);
    hipMemcpy(data, host, sizeof(host), hipMemcpyHostToDevice);
    transpose<<<1, n>>>(data);
    hipMemset(out, 0, sizeof(float));
    sum_of_all<<<4, 64>>>(in, out);
    zeroed_by_the_first<<<4, 64>>>(in, one);
    hipMemcpy(data, host, sizeof(host), hipMemcpyHostToDevice);
    shift_left<<<4, 64>>>(data, n);
    last_block_without_fence<<<4, 64>>>(in, data, count, out);
    return 0;
}
