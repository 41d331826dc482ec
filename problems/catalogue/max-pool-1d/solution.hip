#include <hip/hip_runtime.h>

struct Window {
    int size, stride, padding, dilation;
};

// One output per thread; windows that overlap meet in the cache.
__global__ void pool(const float* input, Window window, float* output, long long length, long long count) {
    const long long at = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
    if (at >= count) return;

    float best = -INFINITY;
    for (int i = 0; i < window.size; ++i) {
        const long long x = at * window.stride - window.padding + i * window.dilation;
        if (x >= 0 && x < length) best = fmaxf(best, input[x]);
    }
    output[at] = best;
}

extern "C" void solution(const float* input, int kernel_size, int stride, int padding, int dilation, float* output,
                         size_t H) {
    const int reach = dilation * (kernel_size - 1) + 1;
    const long long length = static_cast<long long>(H);
    const long long count = (length + 2 * padding - reach) / stride + 1;
    const unsigned threads = 256;
    const unsigned blocks = static_cast<unsigned>((count + threads - 1) / threads);
    pool<<<blocks, threads>>>(input, {kernel_size, stride, padding, dilation}, output, length, count);
}
