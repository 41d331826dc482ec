#include <hip/hip_runtime.h>

constexpr int WIDTH = 64;
constexpr int HEIGHT = 4;

__global__ void begin(const float* edges, float* distances, int n) {
    const int to = blockIdx.x * WIDTH + threadIdx.x, from = blockIdx.y * HEIGHT + threadIdx.y;
    if (from >= n || to >= n) return;
    const size_t at = static_cast<size_t>(from) * n + to;
    distances[at] = from == to ? 0.0f : edges[at] == 0.0f ? INFINITY : edges[at];
}

// Floyd and Warshall: paths may now lead through one more node. No path to or from that node gets shorter by it, so
// what all threads read stays as it is.
__global__ void relax(float* distances, int n, int through) {
    const int to = blockIdx.x * WIDTH + threadIdx.x, from = blockIdx.y * HEIGHT + threadIdx.y;
    if (from >= n || to >= n) return;
    const size_t at = static_cast<size_t>(from) * n + to;
    const float way = distances[static_cast<size_t>(from) * n + through] +
                      distances[static_cast<size_t>(through) * n + to];
    if (way < distances[at]) distances[at] = way;
}

__global__ void finish(float* distances, size_t count) {
    const size_t at = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
    if (at < count && isinf(distances[at])) distances[at] = -1.0f;
}

extern "C" void solution(const float* adj_matrix, float* output, size_t n) {
    const int nodes = static_cast<int>(n);
    const dim3 threads(WIDTH, HEIGHT), blocks((nodes + WIDTH - 1) / WIDTH, (nodes + HEIGHT - 1) / HEIGHT);
    begin<<<blocks, threads>>>(adj_matrix, output, nodes);
    for (int through = 0; through < nodes; ++through) relax<<<blocks, threads>>>(output, nodes, through);
    finish<<<static_cast<unsigned>((n * n + 255) / 256), 256>>>(output, n * n);
}
