#include <hip/hip_runtime.h>

struct Window {
    int size, stride, padding;
};

struct Volume {
    int planes, rows, columns;
};

__device__ int first_place(int at, Window window) { return at * window.stride - window.padding; }

// One output per thread, neighbours along the side that lies together in memory.
__global__ void pool(const float* input, Volume volume, Window window, float* output, Volume count) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int plane = blockIdx.z;
    if (row >= count.rows || column >= count.columns) return;

    float sum = 0.0f;
    for (int i = 0; i < window.size; ++i) {
        const int z = first_place(plane, window) + i;
        if (z < 0 || z >= volume.planes) continue;
        for (int j = 0; j < window.size; ++j) {
            const int y = first_place(row, window) + j;
            if (y < 0 || y >= volume.rows) continue;
            const float* line = input + (static_cast<size_t>(z) * volume.rows + y) * volume.columns;
            for (int k = 0; k < window.size; ++k) {
                const int x = first_place(column, window) + k;
                if (x >= 0 && x < volume.columns) sum += line[x];
            }
        }
    }
    const float places = static_cast<float>(window.size * window.size * window.size);
    output[(static_cast<size_t>(plane) * count.rows + row) * count.columns + column] = sum / places;
}

extern "C" void solution(const float* input, int kernel_size, int stride, int padding, float* output, size_t H,
                         size_t W, size_t D) {
    const int reach = kernel_size;
    const Volume volume = {static_cast<int>(H), static_cast<int>(W), static_cast<int>(D)};
    const Volume count = {(volume.planes + 2 * padding - reach) / stride + 1,
                          (volume.rows + 2 * padding - reach) / stride + 1,
                          (volume.columns + 2 * padding - reach) / stride + 1};
    const dim3 threads(64, 4);
    const dim3 blocks((count.columns + threads.x - 1) / threads.x, (count.rows + threads.y - 1) / threads.y,
                      count.planes);
    pool<<<blocks, threads>>>(input, volume, {kernel_size, stride, padding}, output, count);
}
