#include <hip/hip_runtime.h>

// A block makes a row of sums. It adds up the part that all their windows share once, by all its threads; each thread
// then adds what its own window has on either side of that.
constexpr int THREADS = 256;

__global__ void running_sum(const float* input, long long reach, float* output, long long n) {
    __shared__ float shared[THREADS];
    const long long first = static_cast<long long>(blockIdx.x) * THREADS;
    const long long mine = first + threadIdx.x;
    // The windows of the block share `begin` to `end`; there is no such part where windows are short.
    long long begin = first + THREADS - 1 - reach, end = first + reach + 1;
    if (begin >= end) begin = end = mine - reach;
    const bool is_shared = first + THREADS - 1 - reach < first + reach + 1;

    float sum = 0.0f;
    if (is_shared)
        for (long long i = begin + threadIdx.x; i < end; i += THREADS)
            if (i >= 0 && i < n) sum += static_cast<float>(input[i]);
    shared[threadIdx.x] = sum;
    __syncthreads();
    for (int step = THREADS / 2; step > 0; step /= 2) {
        if (threadIdx.x < step) shared[threadIdx.x] += shared[threadIdx.x + step];
        __syncthreads();
    }
    if (mine >= n) return;

    sum = shared[0];
    for (long long i = mine - reach; i < begin; ++i)
        if (i >= 0 && i < n) sum += static_cast<float>(input[i]);
    for (long long i = end; i <= mine + reach; ++i)
        if (i >= 0 && i < n) sum += static_cast<float>(input[i]);
    output[mine] = sum;
}

extern "C" void solution(const float* input, size_t W, float* output, size_t N) {
    const unsigned blocks = static_cast<unsigned>((N + THREADS - 1) / THREADS);
    running_sum<<<blocks, THREADS>>>(input, static_cast<long long>(W / 2), output, static_cast<long long>(N));
}
