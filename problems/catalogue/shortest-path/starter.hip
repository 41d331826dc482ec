#include <hip/hip_runtime.h>

// The least weight of a path from `source` to each node; -1 where there is none.

__global__ void relax(const float* edges, float* distances, int n) {
    // one thread's part of the work
}

extern "C" void solution(const float* d_adj_matrix, int source, float* d_distances, size_t n) {
    // launch it: relax<<<blocks, threads>>>(...);
}
