#include <hip/hip_runtime.h>

// The tensor is seen as outer x length x inner, where `length` is the dimension that is searched.
constexpr int COLUMNS = 64;
constexpr int GROUPS = 4;

struct Best {
    float value;
    int index;
};

// The smaller value wins; of equal ones, the lower index.
__device__ Best better(Best a, Best b) {
    return b.value < a.value || (b.value == a.value && b.index < a.index) ? b : a;
}

__device__ Best search(const float* first, int start, int step, int length, size_t stride) {
    Best best = {INFINITY, 0x7fffffff};
    for (int i = start; i < length; i += step) best = better(best, {first[i * stride], i});
    return best;
}

// inner > 1: lanes take neighbouring columns, and four groups share the length of a column.
__global__ void search_columns(const float* input, int* output, int length, size_t inner) {
    __shared__ Best partial[GROUPS][COLUMNS];
    const size_t column = static_cast<size_t>(blockIdx.x) * COLUMNS + threadIdx.x;
    const float* slab = input + blockIdx.y * length * inner;

    Best best = {INFINITY, 0x7fffffff};
    if (column < inner) best = search(slab + column, threadIdx.y, GROUPS, length, inner);
    partial[threadIdx.y][threadIdx.x] = best;
    __syncthreads();

    if (threadIdx.y == 0 && column < inner) {
        for (int group = 1; group < GROUPS; ++group) best = better(best, partial[group][threadIdx.x]);
        output[blockIdx.y * inner + column] = best.index;
    }
}

// inner == 1: a wavefront per row, compared by shuffles.
__global__ void search_rows(const float* input, int* output, size_t rows, int length) {
    const int lane = threadIdx.x % warpSize;
    const size_t row = static_cast<size_t>(blockIdx.x) * (blockDim.x / warpSize) + threadIdx.x / warpSize;
    if (row >= rows) return;

    Best best = search(input + row * length, lane, warpSize, length, 1);
    for (int step = warpSize / 2; step > 0; step /= 2) {
        const float value = __shfl_down(best.value, step);
        const int index = __shfl_down(best.index, step);
        best = better(best, {value, index});
    }
    if (lane == 0) output[row] = best.index;
}

extern "C" void solution(const float* input, int dim, int* output, const int* shape, int ndim) {
    size_t outer = 1, inner = 1;
    for (int i = 0; i < dim; ++i) outer *= shape[i];
    for (int i = dim + 1; i < ndim; ++i) inner *= shape[i];

    if (inner == 1) {
        search_rows<<<static_cast<unsigned>((outer + 3) / 4), 256>>>(input, output, outer, shape[dim]);
        return;
    }
    // A grid has at most 65,535 blocks in y.
    for (size_t done = 0; done < outer; done += 65535) {
        const unsigned slabs = static_cast<unsigned>(outer - done < 65535 ? outer - done : 65535);
        const dim3 blocks(static_cast<unsigned>((inner + COLUMNS - 1) / COLUMNS), slabs);
        search_columns<<<blocks, dim3(COLUMNS, GROUPS)>>>(
            input + done * shape[dim] * inner, output + done * inner, shape[dim], inner);
    }
}
