// problem: elu
// assert in a kernel and on the host, <assert.h> and <unistd.h>.
#include <assert.h>
#include <hip/hip_runtime.h>
#include <unistd.h>

__global__ void elu(const float* in, float* out, int n, float alpha) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    assert(blockDim.x <= 1024);
    if (i < n) {
        float x = in[i];
        out[i] = x > 0.0f ? x : alpha * expm1f(x);
        assert(!isnan(out[i]));
    }
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m, float alpha) {
    assert(input != output);
    long page = sysconf(_SC_PAGESIZE);
    int threads = page >= 4096 ? 256 : 64;
    elu<<<(n * m + threads - 1) / threads, threads>>>(input, output, (int)(n * m), alpha);
}
