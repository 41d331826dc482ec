#include <hip/hip_runtime.h>
__global__ void along(const float* x, float* y, size_t lines, size_t length, size_t inner) {
    const size_t line = blockIdx.x * blockDim.x + threadIdx.x;
    if (line >= lines) return;
    const size_t first = line / inner * length * inner + line % inner;
    float largest = -INFINITY, sum = 0;
    for (size_t i = 0; i < length; ++i) largest = fmaxf(largest, x[first + i * inner]);
    for (size_t i = 0; i < length; ++i) sum += expf(x[first + i * inner] - largest);
    for (size_t i = 0; i < length; ++i) y[first + i * inner] = expf(x[first + i * inner] - largest) / sum;
}
extern "C" void solution(const float* input, int dim, float* output, const size_t* shape, size_t ndim) {
    size_t outer = 1, inner = 1;
    for (int i = 0; i < dim; ++i) outer *= shape[i];
    for (size_t i = dim + 1; i < ndim; ++i) inner *= shape[i];
    along<<<(outer * inner + 63) / 64, 64>>>(input, output, outer * inner, shape[dim], inner);
}
