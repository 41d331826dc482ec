// problem: histogram
// One lane adds for all that are there, and the others never set what they pass to the shuffle.
#include <hip/hip_runtime.h>
#include <hip/hip_cooperative_groups.h>
using namespace cooperative_groups;
__device__ int agg(int* ctr) {
    auto g = coalesced_threads();
    int prev;
    if (g.thread_rank() == 0) prev = atomicAdd(ctr, g.size());
    prev = g.shfl(prev, 0);
    return prev + g.thread_rank();
}
__global__ void k(const float* img, int nb, float* h, int n, int* counters) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int b = (int)img[i];
    if (b < 0)
        b = 0;
    else if (b >= nb)
        b = nb - 1;
    atomicAdd(&h[b], 1.0f);
    agg(counters);
}
__global__ void zero(float* h, int nb) {
    if (threadIdx.x < nb) h[threadIdx.x] = 0;
}
extern "C" void solution(const float* image, int num_bins, float* histogram, size_t height, size_t width) {
    int* c;
    hipMalloc(&c, sizeof(int));
    hipMemset(c, 0, sizeof(int));
    hipMemset(histogram, 0, sizeof(float) * num_bins);
    int n = height * width;
    k<<<(n + 511) / 512, 512>>>(image, num_bins, histogram, n, c);
    int got;
    hipMemcpy(&got, c, 4, hipMemcpyDeviceToHost);
    if (got != n) abort();
    hipFree(c);
}
