// problem: relu
// Captured once a call, and launched as a graph.
#include <hip/hip_runtime.h>

__global__ void k(const float* in, float* out, size_t n) {
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] > 0 ? in[i] : 0;
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
    hipStream_t stream;
    hipGraph_t graph;
    hipGraphExec_t ready;
    hipStreamCreate(&stream);
    hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal);
    k<<<(n * m + 255) / 256, 256, 0, stream>>>(input, output, n * m);
    hipStreamEndCapture(stream, &graph);
    hipGraphInstantiate(&ready, graph, nullptr, nullptr, 0);
    hipGraphLaunch(ready, stream);
    hipStreamSynchronize(stream);
}
