// Kernels that run as nodes of graphs.
#include <hip/hip_runtime.h>

__global__ void captured(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? in[i] : 0;
    out[i] = v;  // EXPECT out-of-bounds write
}

__global__ void by_hand(const float* in, float* out) {
    out[threadIdx.x] = in[threadIdx.x + 50];  // EXPECT out-of-bounds read
}

int main() {
    int n = 100;
    float *in, *out;
    hipMalloc(&in, n * sizeof(float));
    hipMalloc(&out, n * sizeof(float));
    hipStream_t stream;
    hipGraph_t graph;
    hipGraphExec_t exec;
    hipStreamCreate(&stream);
    hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal);
    hipMemsetAsync(in, 0, n * sizeof(float), stream);
    captured<<<2, 64, 0, stream>>>(in, out, n);
    hipStreamEndCapture(stream, &graph);
    hipGraphNode_t nodes[2], last;
    size_t count = 2;
    hipGraphGetNodes(graph, nodes, &count);
    void* arguments[] = {&in, &out};
    hipKernelNodeParams launch{};
    launch.func = (void*)by_hand;
    launch.gridDim = dim3(1);
    launch.blockDim = dim3(64);
    launch.kernelParams = arguments;
    hipGraphAddKernelNode(&last, graph, &nodes[1], 1, &launch);
    hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0);
    hipGraphLaunch(exec, stream);
    hipStreamSynchronize(stream);
    return 0;
}
