// Launches on a stream that the default stream, and so the stop event, does not wait for.
#include <hip/hip_runtime.h>

__global__ void add(const float* a, const float* b, float* c, size_t n) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

extern "C" void solution(const float* d_input1, const float* d_input2, float* d_output, size_t n) {
  static hipStream_t side = nullptr;
  if (side == nullptr) (void)hipStreamCreateWithFlags(&side, hipStreamNonBlocking);
  // Long enough on any device to be told from nothing.
  for (int again = 0; again < 200; ++again) add<<<(n + 255) / 256, 256, 0, side>>>(d_input1, d_input2, d_output, n);
}
