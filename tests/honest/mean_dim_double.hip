// problem: mean-dim
// A double accumulator, and the shape copied to the device by its author.
#include <hip/hip_runtime.h>

__global__ void mean_kernel(const float* input, float* output, const size_t* shape, int dim, int ndim, size_t count) {
    size_t index = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (index >= count) return;
    size_t inner = 1;
    for (int d = dim + 1; d < ndim; ++d) inner *= shape[d];
    const size_t length = shape[dim];
    const float* p = input + (index / inner) * length * inner + index % inner;
    double sum = 0.0;
    for (size_t j = 0; j < length; ++j) sum += p[j * inner];
    output[index] = (float)(sum / (double)length);
}

extern "C" void solution(const float* input, int dim, float* output, const size_t* shape, size_t ndim) {
    size_t* d_shape;
    hipMalloc(&d_shape, ndim * sizeof(size_t));
    hipMemcpy(d_shape, shape, ndim * sizeof(size_t), hipMemcpyHostToDevice);
    size_t count = 1;
    for (size_t d = 0; d < ndim; ++d)
        if ((int)d != dim) count *= shape[d];
    mean_kernel<<<(count + 127) / 128, 128>>>(input, output, d_shape, dim, (int)ndim, count);
    hipFree(d_shape);
}
