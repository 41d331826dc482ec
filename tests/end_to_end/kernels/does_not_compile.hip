#include <hip/hip_runtime.h>

extern "C" void solution(const float* input, float alpha, float* output, size_t n, size_t m) {
    undeclared_kernel<<<1, 1>>>(input, alpha, output);
}
