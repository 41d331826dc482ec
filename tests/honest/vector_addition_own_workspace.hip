// problem: vector-addition
// A static workspace that grows when needed: allocations are kept, answers are not.
#include <hip/hip_runtime.h>

static float* workspace = nullptr;
static size_t capacity = 0;

__global__ void copy(const float* a, float* t, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) t[i] = a[i];
}

__global__ void add_to(const float* t, const float* b, float* c, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) c[i] = t[i] + b[i];
}

extern "C" void solution(const float* d_input1, const float* d_input2, float* d_output, size_t n) {
    if (n > capacity) {
        if (workspace) hipFree(workspace);
        if (hipMalloc(&workspace, n * sizeof(float)) != hipSuccess) { capacity = 0; return; }
        capacity = n;
    }
    unsigned blocks = (n + 255) / 256;
    copy<<<blocks, 256>>>(d_input1, workspace, n);
    add_to<<<blocks, 256>>>(workspace, d_input2, d_output, n);
}
