// Prints 64 MiB, and is right.
#include <hip/hip_runtime.h>
#include <stdio.h>
#include <string.h>

__global__ void add(const float* a, const float* b, float* c, size_t n) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

extern "C" void solution(const float* d_input1, const float* d_input2, float* d_output, size_t n) {
  static bool printed = false;
  static char line[1 << 16];
  memset(line, 'x', sizeof line - 2);
  line[sizeof line - 2] = '\n';
  for (int i = 0; !printed && i < (1 << 26) / static_cast<int>(sizeof line); ++i) fputs(line, stdout);
  printed = true;
  add<<<(n + 255) / 256, 256>>>(d_input1, d_input2, d_output, n);
}
