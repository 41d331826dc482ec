#include <hip/hip_runtime.h>

// A block makes a tile of 64 columns, 4 rows and 4 planes, four planes per thread. The filter passes by plane after
// plane, in pieces of at most 8 x 8 taps, each with the part of the cube that it meets in shared memory.
constexpr int WIDTH = 64;
constexpr int HEIGHT = 4;
constexpr int DEPTH = 4;
constexpr int PIECE = 8;
constexpr int WINDOW_HEIGHT = HEIGHT + PIECE - 1;
constexpr int WINDOW_WIDTH = WIDTH + PIECE - 1;

typedef float Window[WINDOW_HEIGHT][WINDOW_WIDTH];

__device__ void load_window(Window& window, const float* cube, int plane, int top, int left, int size) {
    for (int y = threadIdx.y; y < WINDOW_HEIGHT; y += HEIGHT) {
        for (int x = threadIdx.x; x < WINDOW_WIDTH; x += WIDTH) {
            const int row = top + y, column = left + x;
            const bool inside =
                plane >= 0 && plane < size && row >= 0 && row < size && column >= 0 && column < size;
            window[y][x] =
                inside ? static_cast<float>(cube[(static_cast<size_t>(plane) * size + row) * size + column]) : 0.0f;
        }
    }
}

__global__ void convolve(const float* cube, const float* filter, float* output, int size, int taps) {
    __shared__ Window windows[DEPTH];
    const int first = blockIdx.z * DEPTH, top = blockIdx.y * HEIGHT, left = blockIdx.x * WIDTH, half = taps / 2;
    float sum[DEPTH] = {};

    for (int z = 0; z < taps; ++z) {
        for (int y0 = 0; y0 < taps; y0 += PIECE) {
            for (int x0 = 0; x0 < taps; x0 += PIECE) {
                for (int i = 0; i < DEPTH; ++i)
                    load_window(windows[i], cube, first + i + z - half, top + y0 - half, left + x0 - half, size);
                __syncthreads();
                const int rows = taps - y0 < PIECE ? taps - y0 : PIECE;
                const int columns = taps - x0 < PIECE ? taps - x0 : PIECE;
                for (int y = 0; y < rows; ++y) {
                    for (int x = 0; x < columns; ++x) {
                        const float tap = filter[(z * taps + y0 + y) * taps + x0 + x];
                        for (int i = 0; i < DEPTH; ++i) sum[i] += windows[i][threadIdx.y + y][threadIdx.x + x] * tap;
                    }
                }
                __syncthreads();
            }
        }
    }

    const int row = top + threadIdx.y, column = left + threadIdx.x;
    if (row >= size || column >= size) return;
    for (int i = 0; i < DEPTH; ++i) {
        if (first + i < size) output[(static_cast<size_t>(first + i) * size + row) * size + column] = sum[i];
    }
}

extern "C" void solution(const float* A, const float* B, float* C, size_t size, size_t K) {
    const unsigned side = static_cast<unsigned>(size);
    const dim3 blocks((side + WIDTH - 1) / WIDTH, (side + HEIGHT - 1) / HEIGHT, (side + DEPTH - 1) / DEPTH);
    convolve<<<blocks, dim3(WIDTH, HEIGHT)>>>(A, B, C, static_cast<int>(size), static_cast<int>(K));
}
