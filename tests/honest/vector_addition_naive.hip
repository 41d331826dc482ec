// problem: vector-addition
// One thread an element, launched with triple brackets.
#include <hip/hip_runtime.h>

__global__ void vectorAdd(const float *A, const float *B, float *C, size_t n) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx < n) {
        C[idx] = A[idx] + B[idx];
    }
}

extern "C" void solution(const float* d_input1, const float* d_input2, float* d_output, size_t n) {
    int threadsPerBlock = 256;
    int blocksPerGrid = (n + threadsPerBlock - 1) / threadsPerBlock;
    vectorAdd<<<blocksPerGrid, threadsPerBlock>>>(d_input1, d_input2, d_output, n);
    hipDeviceSynchronize();
}
