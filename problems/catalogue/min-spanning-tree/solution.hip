#include <hip/hip_runtime.h>

constexpr int THREADS = 256;

struct Nearest {
    float weight;
    int node;
};

__device__ Nearest nearer(Nearest a, Nearest b) { return b.weight < a.weight ? b : a; }

__device__ Nearest nearest_of_block(Nearest mine, Nearest* shared) {
    shared[threadIdx.x] = mine;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) shared[threadIdx.x] = nearer(shared[threadIdx.x], shared[threadIdx.x + half]);
        __syncthreads();
    }
    const Nearest found = shared[0];
    __syncthreads();
    return found;
}

// Prim, in one block: the node nearest to the tree joins it, and the others look whether it is nearer than what they
// knew. A node in the tree is at distance -1.
__global__ void grow(const float* edges, float* distances, float* total, int n) {
    __shared__ Nearest shared[THREADS];
    for (int node = threadIdx.x; node < n; node += THREADS) distances[node] = node == 0 ? -1.0f : INFINITY;

    float sum = 0.0f;
    int joined = 0;
    for (int step = 1; step < n; ++step) {
        Nearest mine = {INFINITY, 0};
        for (int node = threadIdx.x; node < n; node += THREADS) {
            if (distances[node] < 0.0f) continue;
            const float weight = edges[static_cast<size_t>(joined) * n + node];
            if (weight > 0.0f && weight < distances[node]) distances[node] = weight;
            mine = nearer(mine, {distances[node], node});
        }
        const Nearest found = nearest_of_block(mine, shared);
        sum += found.weight;
        joined = found.node;
        if (joined % THREADS == threadIdx.x) distances[joined] = -1.0f;
    }
    if (threadIdx.x == 0) *total = sum;
}

extern "C" void solution(const float* A, float* min_weight, size_t n) {
    float* distances;
    (void)hipMalloc(&distances, n * sizeof(float));
    grow<<<1, THREADS>>>(A, distances, min_weight, static_cast<int>(n));
    (void)hipFree(distances);
}
