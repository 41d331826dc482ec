// problem: softmax
// One pass for maximum and sum together, one thread a row.
#include <hip/hip_runtime.h>

__global__ void softmax(const float* in, float* out, size_t rows, size_t length, size_t inner) {
    const size_t row = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const size_t base = row / inner * length * inner + row % inner;
    float running_max = -INFINITY, running_sum = 0.0f;
    for (size_t j = 0; j < length; ++j) {
        const float x = in[base + j * inner];
        const float next_max = fmaxf(running_max, x);
        running_sum = running_sum * expf(running_max - next_max) + expf(x - next_max);
        running_max = next_max;
    }
    for (size_t j = 0; j < length; ++j) out[base + j * inner] = expf(in[base + j * inner] - running_max) / running_sum;
}

extern "C" void solution(const float* input, int dim, float* output, const size_t* shape, size_t ndim) {
    size_t outer = 1, inner = 1;
    for (int d = 0; d < dim; ++d) outer *= shape[d];
    for (size_t d = dim + 1; d < ndim; ++d) inner *= shape[d];
    softmax<<<(outer * inner + 63) / 64, 64>>>(input, output, outer * inner, shape[dim], inner);
}
