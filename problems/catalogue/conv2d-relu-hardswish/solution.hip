#include <hip/hip_runtime.h>

// A block makes a tile of 16 rows and 64 columns, four rows per thread. The filter passes by in pieces of at most
// 8 x 8 taps, each with the part of the image that it meets in shared memory.
constexpr int WIDTH = 64;
constexpr int THREAD_ROWS = 4;
constexpr int EACH = 4;
constexpr int HEIGHT = THREAD_ROWS * EACH;
constexpr int PIECE = 8;
constexpr int WINDOW_HEIGHT = HEIGHT + PIECE - 1;
constexpr int WINDOW_WIDTH = WIDTH + PIECE - 1;

__device__ float activated(float x) {
    const float rectified = fmaxf(x, 0.0f);
    return rectified * fminf(rectified + 3.0f, 6.0f) / 6.0f;
}

__device__ void load_window(float (*window)[WINDOW_WIDTH], const float* image, int top, int left, int height,
                            int width) {
    for (int y = threadIdx.y; y < WINDOW_HEIGHT; y += THREAD_ROWS) {
        for (int x = threadIdx.x; x < WINDOW_WIDTH; x += WIDTH) {
            const int row = top + y, column = left + x;
            const bool inside = row >= 0 && row < height && column >= 0 && column < width;
            window[y][x] = inside ? static_cast<float>(image[static_cast<size_t>(row) * width + column]) : 0.0f;
        }
    }
}

__global__ void convolve(const float* image, const float* filter, float* output, int height, int width,
                         int filter_height, int filter_width) {
    __shared__ float window[WINDOW_HEIGHT][WINDOW_WIDTH];
    const int top = blockIdx.y * HEIGHT, left = blockIdx.x * WIDTH;
    float sum[EACH] = {};

    for (int y0 = 0; y0 < filter_height; y0 += PIECE) {
        for (int x0 = 0; x0 < filter_width; x0 += PIECE) {
            load_window(window, image, top + y0 - filter_height / 2, left + x0 - filter_width / 2, height, width);
            __syncthreads();
            const int rows = filter_height - y0 < PIECE ? filter_height - y0 : PIECE;
            const int columns = filter_width - x0 < PIECE ? filter_width - x0 : PIECE;
            for (int y = 0; y < rows; ++y) {
                for (int x = 0; x < columns; ++x) {
                    const float tap = filter[(y0 + y) * filter_width + x0 + x];
                    for (int i = 0; i < EACH; ++i)
                        sum[i] += window[threadIdx.y + i * THREAD_ROWS + y][threadIdx.x + x] * tap;
                }
            }
            __syncthreads();
        }
    }

    for (int i = 0; i < EACH; ++i) {
        const int row = top + threadIdx.y + i * THREAD_ROWS, column = left + threadIdx.x;
        if (row < height && column < width) output[static_cast<size_t>(row) * width + column] = activated(sum[i]);
    }
}

extern "C" void solution(const float* image, const float* kernel, float* output, size_t H, size_t W, size_t Kh,
                         size_t Kw) {
    const dim3 blocks(static_cast<unsigned>((W + WIDTH - 1) / WIDTH), static_cast<unsigned>((H + HEIGHT - 1) / HEIGHT));
    convolve<<<blocks, dim3(WIDTH, THREAD_ROWS)>>>(image, kernel, output, static_cast<int>(H), static_cast<int>(W),
                                                   static_cast<int>(Kh), static_cast<int>(Kw));
}
