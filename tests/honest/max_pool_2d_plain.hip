// problem: max-pool-2d
// Integer arithmetic with padding and dilation, -INFINITY from <limits>.
#include <hip/hip_runtime.h>
#include <limits>

__global__ void max_pool(const float* in, float* out, int kernel, int stride, int padding, int dilation, int H, int W, int OH, int OW) {
    const int ox = blockIdx.x * blockDim.x + threadIdx.x, oy = blockIdx.y * blockDim.y + threadIdx.y;
    if (ox >= OW || oy >= OH) return;
    float best = -std::numeric_limits<float>::infinity();
    for (int i = 0; i < kernel; ++i)
        for (int j = 0; j < kernel; ++j) {
            const int y = oy * stride - padding + i * dilation, x = ox * stride - padding + j * dilation;
            if (y < 0 || y >= H || x < 0 || x >= W) continue;
            best = max(best, in[y * W + x]);
        }
    out[oy * OW + ox] = best;
}

extern "C" void solution(const float* input, int kernel_size, int stride, int padding, int dilation, float* output, size_t H, size_t W) {
    const int OH = ((int)H + 2 * padding - dilation * (kernel_size - 1) - 1) / stride + 1;
    const int OW = ((int)W + 2 * padding - dilation * (kernel_size - 1) - 1) / stride + 1;
    dim3 block(32, 4);
    max_pool<<<dim3((OW + 31) / 32, (OH + 3) / 4), block>>>(input, output, kernel_size, stride, padding, dilation, H, W, OH, OW);
}
