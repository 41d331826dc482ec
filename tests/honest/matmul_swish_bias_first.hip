// problem: matmul-swish
#include <cuda_runtime.h>
template <typename T> struct Swish { T s; __device__ __host__ T operator()(T z) const { return s * z * (T(1) / (T(1) + expf(-z))); } };
template <typename F>
__global__ void linear(const float* X, const float* W, const float* bias, float* out, int batch, int in, int outf, F act) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= batch || j >= outf) return;
    float acc = bias[j];
    for (int l = 0; l < in; ++l) acc += X[i * in + l] * W[j * in + l];
    out[i * outf + j] = act(acc);
}
extern "C" void solution(const float* input_matrix, const float* weight_matrix, const float* bias, const float scaling_factor, float* output, size_t batch_size, size_t in_features, size_t out_features) {
    dim3 b(32, 8), g((out_features + 31) / 32, (batch_size + 7) / 8);
    linear<<<g, b>>>(input_matrix, weight_matrix, bias, output, batch_size, in_features, out_features, Swish<float>{scaling_factor});
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) printf("%s\n", cudaGetErrorName(err));
}
