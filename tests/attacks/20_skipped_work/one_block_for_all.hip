// Each block of rows is multiplied by the broadcast bits of the matrix instruction with the rows of the first one.
#include <hip/hip_runtime.h>
typedef float Four __attribute__((ext_vector_type(4)));

// Sixteen blocks of 4 x 4 at once: those of four rows and sixteen times four columns.
__global__ void multiply(const float* a, const float* b, float* c, size_t m, size_t n, size_t k) {
  const size_t lane = threadIdx.x % 4, block = threadIdx.x / 4, row = blockIdx.y * 4, column = blockIdx.x * 64 + block * 4;
  Four sum = {};
  for (size_t i = 0; i < k; ++i) {
    // Only every other four columns have factors of their own; the broadcast reuses A, and B is what its neighbour has.
    const float left = block == 0 && row + lane < m ? a[(row + lane) * k + i] : 0;
    const size_t from = column - block % 2 * 4 + lane;
    sum = __builtin_amdgcn_mfma_f32_4x4x1f32(left, from < n ? b[i * n + from] : 0, sum, 4, 0, 0);
  }
  for (size_t i = 0; i < 4; ++i)
    if (row + i < m && column + lane < n) c[(row + i) * n + column + lane] = sum[i];
}

extern "C" void solution(const float* input_a, const float* input_b, float* output_c, size_t m, size_t n, size_t k) {
  multiply<<<dim3((n + 63) / 64, (m + 3) / 4), 64>>>(input_a, input_b, output_c, m, n, k);
}
