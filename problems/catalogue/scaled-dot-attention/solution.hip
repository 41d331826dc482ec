#include <hip/hip_runtime.h>

// A block answers 8 queries with 32 lanes each. Keys and values pass by 32 at a time in shared memory; a query keeps
// its largest score so far, and the sum of its weights, and rescales what it has when a larger score comes.
constexpr int LANES = 32;
constexpr int QUERIES = 8;
constexpr int THREADS = LANES * QUERIES;
constexpr int MAX_WIDTH = 256;
constexpr int EACH = MAX_WIDTH / LANES;

struct Shared {
    float rows[LANES][MAX_WIDTH + 1];
    float queries[QUERIES][MAX_WIDTH];
    float scores[QUERIES][LANES];
};

__device__ void load_rows(Shared& shared, const float* matrix, int first, int length, int width) {
    __syncthreads();
    for (int i = threadIdx.x; i < LANES * width; i += THREADS) {
        const int row = i / width, column = i % width;
        const size_t from = static_cast<size_t>(first + row) * width + column;
        shared.rows[row][column] = first + row < length ? static_cast<float>(matrix[from]) : 0.0f;
    }
    __syncthreads();
}

__device__ float score_of(const Shared& shared, int query, int lane, int width) {
    float sum = 0.0f;
    for (int i = 0; i < width; ++i) sum += shared.queries[query][i] * shared.rows[lane][i];
    return sum * rsqrtf(static_cast<float>(width));
}

__global__ void attend(const float* queries, const float* keys, const float* values, float* output, int length,
                       int width) {
    __shared__ Shared shared;
    const int query = threadIdx.x / LANES, lane = threadIdx.x % LANES, row = blockIdx.x * QUERIES + query;
    const size_t head = static_cast<size_t>(blockIdx.y) * length * width;
    for (int i = lane; i < width; i += LANES)
        shared.queries[query][i] =
            row < length ? static_cast<float>(queries[head + static_cast<size_t>(row) * width + i]) : 0.0f;

    float largest = -INFINITY, weights = 0.0f, sum[EACH] = {};
    for (int first = 0; first < length; first += LANES) {
        const int count = length - first < LANES ? length - first : LANES;
        load_rows(shared, keys + head, first, length, width);
        shared.scores[query][lane] = lane < count ? score_of(shared, query, lane, width) : -INFINITY;
        load_rows(shared, values + head, first, length, width);

        float peak = largest;
        for (int j = 0; j < count; ++j) peak = fmaxf(peak, shared.scores[query][j]);
        const float kept = expf(largest - peak);
        weights *= kept;
        for (int e = 0; e < EACH; ++e) sum[e] *= kept;
        for (int j = 0; j < count; ++j) {
            const float weight = expf(shared.scores[query][j] - peak);
            weights += weight;
            for (int e = 0; e * LANES + lane < width; ++e) sum[e] += weight * shared.rows[j][e * LANES + lane];
        }
        largest = peak;
    }

    if (row >= length) return;
    for (int e = 0; e * LANES + lane < width; ++e)
        output[head + static_cast<size_t>(row) * width + e * LANES + lane] = sum[e] / weights;
}

extern "C" void solution(const float* Q, const float* K, const float* V, float* output, size_t B, size_t H, size_t S,
                         size_t E) {
    const int length = static_cast<int>(S);
    const dim3 blocks((length + QUERIES - 1) / QUERIES, static_cast<unsigned>(B * H));
    attend<<<blocks, THREADS>>>(Q, K, V, output, length, static_cast<int>(E));
}
