#include <hip/hip_runtime.h>
#include <time.h>

// Right, and slow on the host side, so that a test can act while it is being checked or benchmarked.
__global__ void leaky_relu(const float* input, float alpha, float* output, size_t count) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < count) output[i] = input[i] > 0 ? input[i] : alpha * input[i];
}

extern "C" void solution(const float* input, float alpha, float* output, size_t n, size_t m) {
    timespec pause = {0, 20 * 1000 * 1000};
    nanosleep(&pause, nullptr);
    size_t count = n * m;
    leaky_relu<<<(count + 255) / 256, 256>>>(input, alpha, output, count);
}
