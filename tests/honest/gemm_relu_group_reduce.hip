// problem: gemm-relu
#include <cuda_runtime.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
// one warp per output element
__global__ void linear_relu(const float* __restrict__ A, const float* __restrict__ W, const float* __restrict__ b, float* __restrict__ C, int B, int N, int M) {
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    int out = blockIdx.x * (blockDim.x / 32) + warp.meta_group_rank();
    if (out >= B * M) return;
    int r = out / M, c = out % M;
    float acc = 0.0f;
    for (int k = warp.thread_rank(); k < N; k += warp.size()) acc += A[r * N + k] * W[c * N + k];
    acc = cg::reduce(warp, acc, cg::plus<float>());
    if (warp.thread_rank() == 0) C[out] = fmaxf(acc + b[c], 0.0f);
}
extern "C" void solution(const float* A, const float* W, const float* b, float* C, size_t B, size_t N, size_t M) {
    int warps = 8;
    linear_relu<<<(B * M + warps - 1) / warps, warps * 32>>>(A, W, b, C, (int)B, (int)N, (int)M);
}
