#include <hip/hip_runtime.h>

// The tensor is seen as outer x length x inner, where `length` is the dimension of the softmax. One pass finds the
// maximum and the sum of exponentials together, rescaling the sum whenever the maximum grows; a second pass writes.
constexpr unsigned COLUMNS = 64;
constexpr unsigned GROUPS = 4;

struct Total {
    float largest;
    float sum;  // of exp(x - largest)
};

__device__ Total merge(Total a, Total b) {
    const float largest = fmaxf(a.largest, b.largest);
    // Two empty totals: exp(-inf - -inf) would be NaN.
    if (largest == -INFINITY) return a;
    return {largest, a.sum * expf(a.largest - largest) + b.sum * expf(b.largest - largest)};
}

__device__ Total accumulate(const float* first, size_t start, size_t step, size_t length, size_t stride) {
    Total total = {-INFINITY, 0.0f};
    for (size_t i = start; i < length; i += step) {
        const float x = first[i * stride];
        if (x > total.largest) {
            total.sum *= expf(total.largest - x);
            total.largest = x;
        }
        total.sum += expf(x - total.largest);
    }
    return total;
}

// inner > 1: lanes take neighbouring columns, and four groups share the length of a column.
__global__ void softmax_columns(const float* input, float* output, size_t length, size_t inner) {
    __shared__ Total partial[GROUPS][COLUMNS];
    const size_t column = static_cast<size_t>(blockIdx.x) * COLUMNS + threadIdx.x;
    const size_t first = blockIdx.y * length * inner + column;

    Total total = {-INFINITY, 0.0f};
    if (column < inner) total = accumulate(input + first, threadIdx.y, GROUPS, length, inner);
    partial[threadIdx.y][threadIdx.x] = total;
    __syncthreads();

    if (column >= inner) return;
    total = partial[0][threadIdx.x];
    for (unsigned group = 1; group < GROUPS; ++group) total = merge(total, partial[group][threadIdx.x]);
    const float inverse = 1.0f / total.sum;
    for (size_t i = threadIdx.y; i < length; i += GROUPS)
        output[first + i * inner] = expf(static_cast<float>(input[first + i * inner]) - total.largest) * inverse;
}

// inner == 1: a wavefront per row, its totals merged by shuffles.
__global__ void softmax_rows(const float* input, float* output, size_t rows, size_t length) {
    const unsigned lane = threadIdx.x % warpSize;
    const size_t row = static_cast<size_t>(blockIdx.x) * (blockDim.x / warpSize) + threadIdx.x / warpSize;
    if (row >= rows) return;

    const float* line = input + row * length;
    Total total = accumulate(line, lane, warpSize, length, 1);
    for (int step = warpSize / 2; step > 0; step /= 2) {
        const float largest = __shfl_xor(total.largest, step);
        const float sum = __shfl_xor(total.sum, step);
        total = merge(total, {largest, sum});
    }
    const float inverse = 1.0f / total.sum;
    for (size_t i = lane; i < length; i += warpSize)
        output[row * length + i] = expf(static_cast<float>(line[i]) - total.largest) * inverse;
}

extern "C" void solution(const float* input, int dim, float* output, const size_t* shape, size_t ndim) {
    size_t outer = 1, inner = 1;
    for (int i = 0; i < dim; ++i) outer *= shape[i];
    for (size_t i = dim + 1; i < ndim; ++i) inner *= shape[i];

    if (inner == 1) {
        softmax_rows<<<static_cast<unsigned>((outer + 3) / 4), 256>>>(input, output, outer, shape[dim]);
        return;
    }
    // A grid has at most 65,535 blocks in y.
    for (size_t done = 0; done < outer; done += 65535) {
        const unsigned slabs = static_cast<unsigned>(outer - done < 65535 ? outer - done : 65535);
        const dim3 blocks(static_cast<unsigned>((inner + COLUMNS - 1) / COLUMNS), slabs);
        const size_t offset = done * shape[dim] * inner;
        softmax_columns<<<blocks, dim3(COLUMNS, GROUPS)>>>(input + offset, output + offset, shape[dim], inner);
    }
}
