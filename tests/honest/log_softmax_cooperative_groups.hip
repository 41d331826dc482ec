// problem: log-softmax
// Cooperative groups: a tile of 32 threads a row, reduced through the tile.
#include <hip/hip_runtime.h>
#include <hip/hip_cooperative_groups.h>

namespace cg = cooperative_groups;

template <typename Tile>
__device__ float tile_max(const Tile& tile, float v) {
    for (int i = tile.size() / 2; i > 0; i /= 2) v = fmaxf(v, tile.shfl_xor(v, i));
    return v;
}
template <typename Tile>
__device__ float tile_sum(const Tile& tile, float v) {
    for (int i = tile.size() / 2; i > 0; i /= 2) v += tile.shfl_xor(v, i);
    return v;
}

__global__ void log_softmax(const float* in, float* out, size_t M, size_t N) {
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<32>(block);
    const size_t row = blockIdx.x * (size_t)(blockDim.x / 32) + block.thread_rank() / 32;
    if (row >= M) return;
    const float* x = in + row * N;
    float biggest = -INFINITY, sum = 0;
    for (size_t j = tile.thread_rank(); j < N; j += tile.size()) biggest = fmaxf(biggest, x[j]);
    biggest = tile_max(tile, biggest);
    for (size_t j = tile.thread_rank(); j < N; j += tile.size()) sum += expf(x[j] - biggest);
    const float shift = biggest + logf(tile_sum(tile, sum));
    for (size_t j = tile.thread_rank(); j < N; j += tile.size()) out[row * N + j] = x[j] - shift;
}

extern "C" void solution(const float* input, float* output, size_t M, size_t N) {
    log_softmax<<<(M + 3) / 4, 128>>>(input, output, M, N);
}
