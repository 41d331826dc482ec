// A kernel that never ends.
#include <hip/hip_runtime.h>

__global__ void spin(volatile float* c) {
  while (c[0] == c[0] || true) {
  }
}

extern "C" void solution(const float* d_input1, const float* d_input2, float* d_output, size_t n) {
  spin<<<1, 64>>>(d_output);
}
