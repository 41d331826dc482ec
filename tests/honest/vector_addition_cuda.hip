// problem: vector-addition
// CUDA that nobody hipified: the names of cudart, an error-checking macro, a stream.
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define CUDA_CHECK(call)                                                                    \
    do {                                                                                    \
        cudaError_t err = (call);                                                           \
        if (err != cudaSuccess) {                                                           \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(err));    \
            exit(EXIT_FAILURE);                                                             \
        }                                                                                   \
    } while (0)

__global__ void add_kernel(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, size_t n) {
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        c[i] = __ldg(&a[i]) + __ldg(&b[i]);
}

extern "C" void solution(const float* d_input1, const float* d_input2, float* d_output, size_t n) {
    cudaDeviceProp prop;
    CUDA_CHECK(cudaGetDeviceProperties(&prop, 0));
    cudaStream_t stream;
    CUDA_CHECK(cudaStreamCreate(&stream));
    int blocks = prop.multiProcessorCount * 4;
    add_kernel<<<blocks, 512, 0, stream>>>(d_input1, d_input2, d_output, n);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaStreamSynchronize(stream));
    CUDA_CHECK(cudaStreamDestroy(stream));
}
