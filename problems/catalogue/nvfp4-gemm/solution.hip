#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
#include <stdint.h>

typedef uint8_t float8;  // a byte of OCP's E4M3
typedef _Float16 float16;

constexpr int BLOCK = 16;
constexpr int DEPTH = 32;
constexpr int TILE = 64;
constexpr int SIDE = 16;
constexpr int EACH = TILE / SIDE;
constexpr int THREADS = SIDE * SIDE;

struct Matrix {
    const uint8_t* q;
    const float8* scales;
    int rows;
    float factor;
};

typedef float Tile[TILE][DEPTH + 1];

__device__ float e2m1_value(uint32_t code) {
    const uint32_t size = code & 7u;
    const float value = size < 2 ? 0.5f * size : __uint_as_float(((126u + (size >> 1)) << 23) | ((size & 1u) << 22));
    return code & 8u ? -value : value;
}

__device__ float e4m3_value(uint32_t code) {
    const uint32_t size = code & 0x7fu;
    const float value = size < 8 ? size * 0.001953125f : __uint_as_float((size << 20) + (120u << 23));
    return code & 0x80u ? -value : value;
}

// Scales lie in tiles of 128 rows and 4 columns, rows 0, 32, 64 and 96 of a tile together.
__device__ size_t scale_place(size_t row, size_t column, size_t columns) {
    const size_t tile = row / 128 * ((columns + 3) / 4) + column / 4;
    return tile * 512 + row % 32 * 16 + row % 128 / 32 * 4 + column % 4;
}

// 64 rows of a matrix as floats, 32 columns of them; zeros beyond its last row.
__device__ void load_tile(Tile& tile, Matrix matrix, int first_row, int first_column, int columns) {
    for (int i = threadIdx.x; i < TILE * DEPTH; i += THREADS) {
        const int row = first_row + i / DEPTH, column = first_column + i % DEPTH;
        float value = 0.0f;
        if (row < matrix.rows) {
            const size_t at = static_cast<size_t>(row) * columns + column;
            const float scale = e4m3_value(matrix.scales[scale_place(row, column / BLOCK, columns / BLOCK)]);
            value = e2m1_value(matrix.q[at / 2] >> (4 * (at % 2))) * scale * matrix.factor;
        }
        tile[i / DEPTH][i % DEPTH] = value;
    }
}

// A block makes a tile of 64 x 64, a thread 4 x 4 of it, in float.
__global__ void multiply(Matrix a, Matrix b, float16* c, int columns) {
    __shared__ Tile a_tile, b_tile;
    const int x = threadIdx.x % SIDE, y = threadIdx.x / SIDE;
    const int first_row = blockIdx.y * TILE, first_column = blockIdx.x * TILE;
    float sums[EACH][EACH] = {};

    for (int depth = 0; depth < columns; depth += DEPTH) {
        load_tile(a_tile, a, first_row, depth, columns);
        load_tile(b_tile, b, first_column, depth, columns);
        __syncthreads();
        for (int at = 0; at < DEPTH; ++at) {
            for (int i = 0; i < EACH; ++i) {
                for (int j = 0; j < EACH; ++j) sums[i][j] += a_tile[y + i * SIDE][at] * b_tile[x + j * SIDE][at];
            }
        }
        __syncthreads();
    }

    for (int i = 0; i < EACH; ++i) {
        for (int j = 0; j < EACH; ++j) {
            const int row = first_row + y + i * SIDE, column = first_column + x + j * SIDE;
            if (row < a.rows && column < b.rows) c[static_cast<size_t>(row) * b.rows + column] = sums[i][j];
        }
    }
}

extern "C" void solution(const uint8_t* q_a, const float8* scale_a, const float sf_g_a, const uint8_t* q_b,
                         const float8* scale_b, const float sf_g_b, float16* c, size_t m, size_t n, size_t k) {
    const Matrix a = {q_a, scale_a, static_cast<int>(m), 1.0f / sf_g_a};
    const Matrix b = {q_b, scale_b, static_cast<int>(n), 1.0f / sf_g_b};
    const dim3 blocks((b.rows + TILE - 1) / TILE, (a.rows + TILE - 1) / TILE);
    multiply<<<blocks, THREADS>>>(a, b, c, static_cast<int>(k));
}
