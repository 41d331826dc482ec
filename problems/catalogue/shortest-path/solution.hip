#include <hip/hip_runtime.h>

constexpr int THREADS = 64;
constexpr int ROWS = 64;
constexpr int LAST_THREADS = 256;
constexpr int MOST_ROUNDS = 64;

// Distances are no less than zero: floats in the order of their bits, of which the least is taken atomically.
__global__ void begin(unsigned* distances, unsigned* next, int* changed, int source, int n) {
    const int node = blockIdx.x * THREADS + threadIdx.x;
    if (node < n) distances[node] = next[node] = __float_as_uint(node == source ? 0.0f : INFINITY);
    if (node <= MOST_ROUNDS) changed[node] = node == 0;
}

// Bellman and Ford: every path gets one edge longer. A block looks at the edges from 64 nodes to 64 nodes.
__global__ void relax(const float* edges, const unsigned* distances, unsigned* next, const int* changed, int n) {
    if (!*changed) return;
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

// One block goes on from the nodes that came nearer in the last round, until none does. A node has a thread of its own.
__global__ void finish(const float* edges, unsigned* distances, unsigned* next, int* nearer, float* output, int n) {
    __shared__ int count;
    do {
        __syncthreads();
        if (threadIdx.x == 0) count = 0;
        __syncthreads();
        for (int node = threadIdx.x; node < n; node += LAST_THREADS)
            if (distances[node] != next[node]) {
                distances[node] = next[node];
                nearer[atomicAdd(&count, 1)] = node;
            }
        __syncthreads();
        for (int at = 0; at < count; ++at) {
            const float distance = __uint_as_float(distances[nearer[at]]);
            const float* row = edges + static_cast<size_t>(nearer[at]) * n;
            for (int to = threadIdx.x; to < n; to += LAST_THREADS)
                if (row[to] > 0.0f) next[to] = min(next[to], __float_as_uint(distance + row[to]));
        }
    } while (count > 0);
    for (int node = threadIdx.x; node < n; node += LAST_THREADS) {
        const float distance = __uint_as_float(distances[node]);
        output[node] = isinf(distance) ? -1.0f : distance;
    }
}

// In so many most nodes of most graphs are as near as they can be.
static int rounds_of(int nodes) {
    int rounds = 4;
    for (int rest = nodes >> 8; rest > 0; rest >>= 1) rounds += 2;
    return rounds;
}

extern "C" void solution(const float* d_adj_matrix, int source, float* d_distances, size_t n) {
    const int nodes = static_cast<int>(n), blocks = (nodes + THREADS - 1) / THREADS;
    unsigned* distances;
    int* changed;
    (void)hipMalloc(&distances, 3 * n * sizeof(unsigned));
    (void)hipMalloc(&changed, (MOST_ROUNDS + 1) * sizeof(int));
    unsigned* next = distances + n;
    int* nearer = reinterpret_cast<int*>(next + n);

    begin<<<blocks, THREADS>>>(distances, next, changed, source, nodes);
    const dim3 tiles(blocks, (nodes + ROWS - 1) / ROWS);
    for (int round = 0, rounds = rounds_of(nodes); round <= rounds; ++round) {
        relax<<<tiles, THREADS>>>(d_adj_matrix, distances, next, &changed[round], nodes);
        if (round < rounds) advance<<<blocks, THREADS>>>(distances, next, &changed[round + 1], nodes);
    }
    finish<<<1, LAST_THREADS>>>(d_adj_matrix, distances, next, nearer, d_distances, nodes);

    (void)hipFree(distances);
    (void)hipFree(changed);
}
