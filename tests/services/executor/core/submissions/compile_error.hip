// Line 5 lacks a semicolon.
#include <hip/hip_runtime.h>

extern "C" void solution(const float* d_input1, const float* d_input2, float* d_output, size_t n) {
  int half = 1
}
