// Half of a block waits at a barrier that the other half never comes to.
#include <hip/hip_runtime.h>

__global__ void wait(float* c, int* never) {
  if (threadIdx.x < 128) __syncthreads();
  while (threadIdx.x >= 128 && *static_cast<volatile int*>(never) == 0) {
  }
  c[threadIdx.x] = 1.0f;
}

extern "C" void solution(const float* d_input1, const float* d_input2, float* d_output, size_t n) {
  static int* never = nullptr;
  if (never == nullptr) (void)hipMalloc(&never, sizeof(int));
  (void)hipMemset(never, 0, sizeof(int));
  wait<<<1, 256>>>(d_output, never);
}
