#include <hip/hip_runtime.h>

// One element per thread: neighbouring lanes touch neighbouring addresses.
__global__ void add(const float* a, const float* b, float* sum, size_t n) {
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) sum[i] = a[i] + b[i];
}

extern "C" void solution(const float* d_input1, const float* d_input2, float* d_output, size_t n) {
    const unsigned threads = 256;
    const unsigned blocks = static_cast<unsigned>((n + threads - 1) / threads);
    add<<<blocks, threads>>>(d_input1, d_input2, d_output, n);
}
