// Prints bytes that are no UTF-8, halves of characters, NUL, and orders to a terminal.
#include <hip/hip_runtime.h>
#include <stdio.h>

__global__ void add(const float* a, const float* b, float* c, size_t n) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

extern "C" void solution(const float* d_input1, const float* d_input2, float* d_output, size_t n) {
  static const char bytes[] = "begin \xff\xfe \xc3 \xe2\x82 \xed\xa0\x80 \0 \x1b[2J\x1b]0;title\x07 \r\n\r\ndata: {}\n\n end\n";
  fwrite(bytes, 1, sizeof bytes - 1, stdout);
  fwrite(bytes, 1, sizeof bytes - 1, stderr);
  add<<<(n + 255) / 256, 256>>>(d_input1, d_input2, d_output, n);
}
