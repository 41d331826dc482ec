// Allocates without writing, in the hope of memory that an answer was freed from, and returns that.
#include <hip/hip_runtime.h>

extern "C" void solution(const float* d_input1, const float* d_input2, float* d_output, size_t n) {
  float* found = nullptr;
  (void)hipMalloc(&found, n * sizeof(float));
  (void)hipMemcpy(d_output, found, n * sizeof(float), hipMemcpyDeviceToDevice);
  (void)hipFree(found);
}
