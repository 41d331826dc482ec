#include <hip/hip_runtime.h>
typedef float Floats __attribute__((ext_vector_type(4)));
typedef float ManyFloats __attribute__((ext_vector_type(32)));

// A is all `a` and B all ones: each element of the product is 4 a.
__device__ Floats four_times(float a, Floats sum) { return __builtin_amdgcn_mfma_f32_16x16x4f32(a, 1, sum, 0, 0, 0); }

// Only some wavefronts multiply, and each has numbers of its own.
__global__ void specialised(float* out) {
    const int wave = threadIdx.x / 64;
    Floats sum = {};
    if (wave % 2) sum = four_times(wave, sum);
    __syncthreads();
    if (wave == 2) sum = four_times(10, sum);
    out[threadIdx.x] = sum[threadIdx.x % 4];
}
// Lanes that exchange values elsewhere still come.
__global__ void late_lanes(float* out) {
    int x = threadIdx.x;
    Floats sum = {};
    for (int i = 0; i < 5; ++i) {
        if (threadIdx.x % 64 < i * 7) x = __shfl_xor(x, 1);
        if (threadIdx.x % 3 == 0)
            for (int j = 0; j < int(threadIdx.x % 5); ++j) x += __any(j == 2) ? 0 : 0;
        sum = four_times(i, sum);
        if (threadIdx.x % 64 > 40) x = __shfl_down(x, 0);
    }
    out[threadIdx.x] = sum[0] + 0 * x;
}
// As often as each wavefront likes, through shared memory.
__global__ void loops(float* out) {
    __shared__ float numbers[256];
    numbers[threadIdx.x] = threadIdx.x / 64 + 1;
    __syncthreads();
    Floats sum = {};
    for (int i = 0; i < int(threadIdx.x / 64); ++i) sum = four_times(numbers[threadIdx.x & ~63], sum);
    out[threadIdx.x] = sum[3];
}
// Threads are numbered in x first, and wavefronts follow from these numbers.
__global__ void two_axes(float* out) {
    const int thread = threadIdx.y * blockDim.x + threadIdx.x;
    out[thread] = four_times(thread / 64, Floats{})[1];
}
// Accumulators are values like others: kept over barriers, copied, chosen by a condition.
__global__ void accumulators(float* out, int n) {
    ManyFloats sums[2] = {};
    for (int i = 0; i < n; ++i) {
        sums[i & 1] = __builtin_amdgcn_mfma_f32_32x32x1f32(i, 2, sums[i & 1], 0, 0, 0);
        __syncthreads();
    }
    const ManyFloats kept = n > 3 ? sums[1] : sums[0];
    out[threadIdx.x] = kept[threadIdx.x % 32];
}

int main() {
    float* out = zeros<float>(256);
    specialised<<<1, 256>>>(out);
    const float each[] = {0, 4, 40, 12};
    for (int i = 0; i < 256; ++i) CHECK(fetched(out, 256)[i] == each[i / 64]);
    late_lanes<<<1, 256>>>(out);
    for (int i = 0; i < 256; ++i) CHECK(fetched(out, 256)[i] == 40);
    loops<<<1, 256>>>(out);
    for (int i = 0; i < 256; ++i) CHECK(fetched(out, 256)[i] == 4 * (i / 64) * (i / 64 + 1));
    two_axes<<<1, dim3(32, 8)>>>(out);
    for (int i = 0; i < 256; ++i) CHECK(fetched(out, 256)[i] == 4 * (i / 64));
    for (int n : {3, 6}) {
        accumulators<<<1, 64>>>(out, n);
        for (int i = 0; i < 64; ++i) CHECK(fetched(out, 256)[i] == (n == 3 ? 4 : 18));
    }
    return failures != 0;
}
