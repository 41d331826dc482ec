#include <hip/hip_runtime.h>

constexpr int THREADS = 64;
constexpr int ROWS = 64;

// Distances are no less than zero: floats in the order of their bits, of which the least is taken atomically.
__global__ void begin(unsigned* distances, unsigned* next, int source, int n) {
    const int node = blockIdx.x * THREADS + threadIdx.x;
    if (node < n) distances[node] = next[node] = __float_as_uint(node == source ? 0.0f : INFINITY);
}

// Bellman and Ford: every path gets one edge longer. A block looks at the edges from 64 nodes to 64 nodes.
__global__ void relax(const float* edges, const unsigned* distances, unsigned* next, int n) {
    const int to = blockIdx.x * THREADS + threadIdx.x, first = blockIdx.y * ROWS;
    if (to >= n) return;
    float least = INFINITY;
    for (int from = first; from < first + ROWS && from < n; ++from) {
        const float weight = edges[static_cast<size_t>(from) * n + to];
        if (weight > 0.0f) least = fminf(least, __uint_as_float(distances[from]) + weight);
    }
    if (least < __uint_as_float(distances[to])) atomicMin(&next[to], __float_as_uint(least));
}

__global__ void advance(unsigned* distances, const unsigned* next, int* changed, int n) {
    const int node = blockIdx.x * THREADS + threadIdx.x;
    if (node >= n || distances[node] == next[node]) return;
    distances[node] = next[node];
    atomicOr(changed, 1);
}

__global__ void finish(const unsigned* distances, float* output, int n) {
    const int node = blockIdx.x * THREADS + threadIdx.x;
    if (node >= n) return;
    const float distance = __uint_as_float(distances[node]);
    output[node] = isinf(distance) ? -1.0f : distance;
}

extern "C" void solution(const float* d_adj_matrix, int source, float* d_distances, size_t n) {
    const int nodes = static_cast<int>(n), blocks = (nodes + THREADS - 1) / THREADS;
    unsigned* distances;
    int* changed;
    (void)hipMalloc(&distances, 2 * n * sizeof(unsigned));
    (void)hipMalloc(&changed, sizeof(int));
    unsigned* next = distances + n;

    begin<<<blocks, THREADS>>>(distances, next, source, nodes);
    int more = 1;
    while (more) {
        (void)hipMemset(changed, 0, sizeof(int));
        relax<<<dim3(blocks, (nodes + ROWS - 1) / ROWS), THREADS>>>(d_adj_matrix, distances, next, nodes);
        advance<<<blocks, THREADS>>>(distances, next, changed, nodes);
        (void)hipMemcpy(&more, changed, sizeof(int), hipMemcpyDeviceToHost);
    }
    finish<<<blocks, THREADS>>>(distances, d_distances, nodes);

    (void)hipFree(distances);
    (void)hipFree(changed);
}
