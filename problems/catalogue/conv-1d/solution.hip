#include <hip/hip_runtime.h>

// A block makes 1024 outputs, four per thread. The filter passes by in pieces of 256 taps, each with the stretch of
// the signal that it meets in shared memory.
constexpr int THREADS = 256;
constexpr int EACH = 4;
constexpr int OUTPUTS = THREADS * EACH;
constexpr int TAPS = 256;

__global__ void convolve(const float* signal, const float* filter, float* output, long long n, long long k) {
    __shared__ float window[OUTPUTS + TAPS];
    __shared__ float taps[TAPS];
    const long long first = static_cast<long long>(blockIdx.x) * OUTPUTS;
    float sum[EACH] = {};

    for (long long start = 0; start < k; start += TAPS) {
        const int count = static_cast<int>(k - start < TAPS ? k - start : TAPS);
        const long long origin = first + start - k / 2;
        for (int i = threadIdx.x; i < OUTPUTS + TAPS; i += THREADS) {
            const long long at = origin + i;
            window[i] = at >= 0 && at < n ? static_cast<float>(signal[at]) : 0.0f;
        }
        for (int i = threadIdx.x; i < count; i += THREADS) taps[i] = filter[start + i];
        __syncthreads();

        for (int tap = 0; tap < count; ++tap)
            for (int i = 0; i < EACH; ++i) sum[i] += window[threadIdx.x + i * THREADS + tap] * taps[tap];
        __syncthreads();
    }

    for (int i = 0; i < EACH; ++i) {
        const long long at = first + threadIdx.x + i * THREADS;
        if (at < n) output[at] = sum[i];
    }
}

extern "C" void solution(const float* A, const float* B, float* C, size_t N, size_t K) {
    const unsigned blocks = static_cast<unsigned>((N + OUTPUTS - 1) / OUTPUTS);
    convolve<<<blocks, THREADS>>>(A, B, C, static_cast<long long>(N), static_cast<long long>(K));
}
