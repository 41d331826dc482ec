// problem: box-blur
// Excess threads stay for the barrier and leave after it; a tile with clamped borders.
#include <hip/hip_runtime.h>

#define TILE 16
#define MAX_RADIUS 13

__global__ void box_blur(const float* in, int kernel_size, float* out, int H, int W) {
    __shared__ float tile[TILE + 2 * MAX_RADIUS][TILE + 2 * MAX_RADIUS];
    const int r = kernel_size / 2, span = TILE + 2 * r;
    const int x0 = blockIdx.x * TILE - r, y0 = blockIdx.y * TILE - r;
    for (int i = threadIdx.y * TILE + threadIdx.x; i < span * span; i += TILE * TILE) {
        const int y = y0 + i / span, x = x0 + i % span;
        tile[i / span][i % span] = (y >= 0 && y < H && x >= 0 && x < W) ? in[y * W + x] : 0.0f;
    }
    __syncthreads();
    const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    if (x >= W || y >= H) return;
    float sum = 0;
    for (int i = 0; i < kernel_size; ++i)
        for (int j = 0; j < kernel_size; ++j) sum += tile[threadIdx.y + i][threadIdx.x + j];
    const int rows = min(y + r, H - 1) - max(y - r, 0) + 1, cols = min(x + r, W - 1) - max(x - r, 0) + 1;
    out[y * W + x] = sum / (rows * cols);
}

extern "C" void solution(const float* input_image, int kernel_size, float* output_image, size_t height, size_t width) {
    dim3 grid((width + TILE - 1) / TILE, (height + TILE - 1) / TILE);
    box_blur<<<grid, dim3(TILE, TILE)>>>(input_image, kernel_size, output_image, height, width);
}
