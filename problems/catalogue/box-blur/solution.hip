#include <hip/hip_runtime.h>

// A block blurs a tile of 64 x 16 pixels: it sums along the rows first, of the tile and of the rows above and below
// that its squares reach, and then along the columns of those sums.
constexpr int WIDTH = 64;
constexpr int THREAD_ROWS = 4;
constexpr int HEIGHT = 16;
constexpr int MAX_REACH = 31;

__device__ int clamped(int at, int length) { return at < 0 ? 0 : at >= length ? length - 1 : at; }

__device__ float sum_of_row(const float* row, int column, int width, int reach) {
    float sum = 0.0f;
    for (int x = clamped(column - reach, width); x <= clamped(column + reach, width); ++x) sum += row[x];
    return sum;
}

__global__ void blur(const float* input, float* output, int height, int width, int reach) {
    __shared__ float row_sums[HEIGHT + 2 * MAX_REACH][WIDTH];
    const int top = blockIdx.y * HEIGHT, column = blockIdx.x * WIDTH + threadIdx.x;

    for (int y = threadIdx.y; y < HEIGHT + 2 * reach; y += THREAD_ROWS) {
        const int row = top + y - reach;
        const bool inside = row >= 0 && row < height && column < width;
        row_sums[y][threadIdx.x] =
            inside ? sum_of_row(input + static_cast<size_t>(row) * width, column, width, reach) : 0.0f;
    }
    __syncthreads();

    const int columns = clamped(column + reach, width) - clamped(column - reach, width) + 1;
    for (int y = threadIdx.y; y < HEIGHT; y += THREAD_ROWS) {
        const int row = top + y;
        if (row >= height || column >= width) return;
        float sum = 0.0f;
        for (int i = 0; i <= 2 * reach; ++i) sum += row_sums[y + i][threadIdx.x];
        const int rows = clamped(row + reach, height) - clamped(row - reach, height) + 1;
        output[static_cast<size_t>(row) * width + column] = sum / static_cast<float>(rows * columns);
    }
}

extern "C" void solution(const float* input_image, int kernel_size, float* output_image, size_t height, size_t width) {
    const dim3 blocks(static_cast<unsigned>((width + WIDTH - 1) / WIDTH),
                      static_cast<unsigned>((height + HEIGHT - 1) / HEIGHT));
    blur<<<blocks, dim3(WIDTH, THREAD_ROWS)>>>(input_image, output_image, static_cast<int>(height),
                                               static_cast<int>(width), kernel_size / 2);
}
