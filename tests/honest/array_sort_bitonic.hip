// problem: array-sort
// A bitonic network: one launch a step, in place on the output.
#include <hip/hip_runtime.h>

__global__ void step(int* v, unsigned n, unsigned j, unsigned k) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned other = i ^ j;
    if (i >= n || other <= i) return;
    const bool ascending = (i & k) == 0;
    const int a = v[i], b = v[other];
    if ((a > b) == ascending) {
        v[i] = b;
        v[other] = a;
    }
}

extern "C" void solution(const int* a, int* b, size_t n) {
    hipMemcpyAsync(b, a, n * sizeof(int), hipMemcpyDeviceToDevice, 0);
    for (unsigned k = 2; k <= n; k <<= 1)
        for (unsigned j = k >> 1; j > 0; j >>= 1) step<<<(n + 511) / 512, 512>>>(b, (unsigned)n, j, k);
}
