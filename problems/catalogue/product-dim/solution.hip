#include <hip/hip_runtime.h>

// The tensor is seen as outer x length x inner, where `length` is the dimension that is multiplied up.
constexpr unsigned COLUMNS = 64;
constexpr unsigned GROUPS = 4;

// inner > 1: lanes take neighbouring columns, and four groups share the length of a column.
__global__ void multiply_columns(const float* input, float* output, size_t length, size_t inner) {
    __shared__ float partial[GROUPS][COLUMNS];
    const size_t column = static_cast<size_t>(blockIdx.x) * COLUMNS + threadIdx.x;
    const float* slab = input + blockIdx.y * length * inner;

    float product = 1.0f;
    if (column < inner)
        for (size_t i = threadIdx.y; i < length; i += GROUPS) product *= slab[i * inner + column];
    partial[threadIdx.y][threadIdx.x] = product;
    __syncthreads();

    if (threadIdx.y == 0 && column < inner) {
        for (unsigned group = 1; group < GROUPS; ++group) product *= partial[group][threadIdx.x];
        output[blockIdx.y * inner + column] = product;
    }
}

// inner == 1: a wavefront per row, multiplied by shuffles.
__global__ void multiply_rows(const float* input, float* output, size_t rows, size_t length) {
    const unsigned lane = threadIdx.x % warpSize;
    const size_t row = static_cast<size_t>(blockIdx.x) * (blockDim.x / warpSize) + threadIdx.x / warpSize;
    if (row >= rows) return;

    float product = 1.0f;
    for (size_t i = lane; i < length; i += warpSize) product *= input[row * length + i];
    for (int step = warpSize / 2; step > 0; step /= 2) product *= __shfl_down(product, step);
    if (lane == 0) output[row] = product;
}

extern "C" void solution(const float* input, int dim, float* output, const size_t* shape, size_t ndim) {
    size_t outer = 1, inner = 1;
    for (int i = 0; i < dim; ++i) outer *= shape[i];
    for (size_t i = dim + 1; i < ndim; ++i) inner *= shape[i];

    if (inner == 1) {
        multiply_rows<<<static_cast<unsigned>((outer + 3) / 4), 256>>>(input, output, outer, shape[dim]);
        return;
    }
    // A grid has at most 65,535 blocks in y.
    for (size_t done = 0; done < outer; done += 65535) {
        const unsigned slabs = static_cast<unsigned>(outer - done < 65535 ? outer - done : 65535);
        const dim3 blocks(static_cast<unsigned>((inner + COLUMNS - 1) / COLUMNS), slabs);
        multiply_columns<<<blocks, dim3(COLUMNS, GROUPS)>>>(
            input + done * shape[dim] * inner, output + done * inner, shape[dim], inner);
    }
}
