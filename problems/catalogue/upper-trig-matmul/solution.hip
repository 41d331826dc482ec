#include <hip/hip_runtime.h>

// A block makes a 64 x 64 tile of the product from 64 x 16 tiles of A and 16 x 64 tiles of B in shared memory; each of
// its 16 x 16 threads keeps 4 x 4 sums in registers, 16 apart, so that lanes read neighbouring words.
// Only the part of the sums from the row's diagonal to the column's is not 0.
constexpr int TILE = 64;
constexpr int DEPTH = 16;
constexpr int SIDE = 16;
constexpr int EACH = TILE / SIDE;

__global__ void multiply(const float* a, const float* b, float* c, size_t m, size_t n, size_t k) {
    __shared__ float tile_a[DEPTH][TILE + 1];
    __shared__ float tile_b[DEPTH][TILE + 1];

    const size_t top = static_cast<size_t>(blockIdx.y) * TILE;
    const size_t left = static_cast<size_t>(blockIdx.x) * TILE;
    const int thread = threadIdx.y * SIDE + threadIdx.x;
    float sum[EACH][EACH] = {};

    for (size_t start = top; start < k && start < left + TILE; start += DEPTH) {
        for (int at = thread; at < TILE * DEPTH; at += SIDE * SIDE) {
            const size_t row = top + at / DEPTH, inner = start + at % DEPTH;
            tile_a[at % DEPTH][at / DEPTH] = row < m && inner < k ? static_cast<float>(a[row * k + inner]) : 0.0f;
        }
        for (int at = thread; at < TILE * DEPTH; at += SIDE * SIDE) {
            const size_t inner = start + at / TILE, column = left + at % TILE;
            tile_b[at / TILE][at % TILE] = inner < k && column < n ? static_cast<float>(b[inner * n + column]) : 0.0f;
        }
        __syncthreads();

        for (int inner = 0; inner < DEPTH; ++inner) {
            float from_a[EACH], from_b[EACH];
            for (int i = 0; i < EACH; ++i) from_a[i] = tile_a[inner][threadIdx.y + i * SIDE];
            for (int j = 0; j < EACH; ++j) from_b[j] = tile_b[inner][threadIdx.x + j * SIDE];
            for (int i = 0; i < EACH; ++i)
                for (int j = 0; j < EACH; ++j) sum[i][j] += from_a[i] * from_b[j];
        }
        __syncthreads();
    }

    for (int i = 0; i < EACH; ++i) {
        for (int j = 0; j < EACH; ++j) {
            const size_t row = top + threadIdx.y + i * SIDE, column = left + threadIdx.x + j * SIDE;
            if (row >= m || column >= n) continue;
            c[row * n + column] = sum[i][j];
        }
    }
}

extern "C" void solution(const float* input_a, const float* input_b, float* output_c, size_t n) {
    const size_t rows = n, columns = n;
    const size_t across = (columns + TILE - 1) / TILE, down = (rows + TILE - 1) / TILE;
    const dim3 blocks(static_cast<unsigned>(across), static_cast<unsigned>(down));
    multiply<<<blocks, dim3(SIDE, SIDE)>>>(input_a, input_b, output_c, n, n, n);
}
