#include <hip/hip_runtime.h>

struct Window {
    int size, stride, padding, dilation;
};

// One output per thread; windows that overlap meet in the cache.
__global__ void pool(const float* input, Window window, float* output, int height, int width, int rows, int columns) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= rows || column >= columns) return;

    float best = -INFINITY;
    for (int i = 0; i < window.size; ++i) {
        const int y = row * window.stride - window.padding + i * window.dilation;
        if (y < 0 || y >= height) continue;
        for (int j = 0; j < window.size; ++j) {
            const int x = column * window.stride - window.padding + j * window.dilation;
            if (x >= 0 && x < width) best = fmaxf(best, input[static_cast<size_t>(y) * width + x]);
        }
    }
    output[static_cast<size_t>(row) * columns + column] = best;
}

extern "C" void solution(const float* input, int kernel_size, int stride, int padding, int dilation, float* output,
                         size_t H, size_t W) {
    const int height = static_cast<int>(H), width = static_cast<int>(W);
    const int reach = dilation * (kernel_size - 1) + 1;
    const int rows = (height + 2 * padding - reach) / stride + 1;
    const int columns = (width + 2 * padding - reach) / stride + 1;
    const dim3 threads(64, 4);
    const dim3 blocks((columns + threads.x - 1) / threads.x, (rows + threads.y - 1) / threads.y);
    pool<<<blocks, threads>>>(input, {kernel_size, stride, padding, dilation}, output, height, width, rows, columns);
}
