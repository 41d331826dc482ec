// Gives an input back as the output.
#include <hip/hip_runtime.h>

extern "C" void solution(const float* d_input1, const float* d_input2, float* d_output, size_t n) {
  (void)hipMemcpy(d_output, d_input1, n * sizeof(float), hipMemcpyDeviceToDevice);
}
