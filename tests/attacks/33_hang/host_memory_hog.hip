// Takes and touches all memory of the host.
#include <hip/hip_runtime.h>
#include <stdlib.h>

extern "C" void solution(const float* d_input1, const float* d_input2, float* d_output, size_t n) {
  for (;;) {
    auto* piece = static_cast<volatile char*>(malloc(16 << 20));
    if (piece == nullptr) abort();
    for (int at = 0; at < 16 << 20; at += 4096) piece[at] = 1;
  }
}
