// problem: swish
// A stream of its own and a host function on it.
#include <hip/hip_runtime.h>
#include <atomic>

static std::atomic<int> finished{0};

static void note(void* calls) { static_cast<std::atomic<int>*>(calls)->fetch_add(1); }

__global__ void swish(const float* in, float* out, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] / (1.0f + expf(-in[i]));
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
    static hipStream_t stream = nullptr;
    if (!stream) hipStreamCreate(&stream);
    swish<<<(n * m + 255) / 256, 256, 0, stream>>>(input, output, n * m);
    hipLaunchHostFunc(stream, note, &finished);
    hipStreamSynchronize(stream);
}
