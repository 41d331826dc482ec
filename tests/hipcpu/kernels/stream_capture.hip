// What a captured stream takes down, forks and joins, and what captures refuse.
#include <cuda_runtime.h>
#include <thread>

__device__ int symbol[2];
__global__ void add(int* data, int value) { data[threadIdx.x] += value; }
__global__ void set(int* data, const int* from) { data[threadIdx.x] = from[threadIdx.x]; }
static void count(void* counter) { ++*static_cast<int*>(counter); }
static void on_stream(hipStream_t, hipError_t, void*) {}

static hipStream_t stream, side;
static int* data;

static hipStreamCaptureStatus status_of(hipStream_t asked) {
    hipStreamCaptureStatus status;
    RUN(hipStreamIsCapturing(asked, &status));
    return status;
}
static hipGraph_t ended(hipError_t expected = hipSuccess) {
    hipGraph_t graph = nullptr;
    CHECK(hipStreamEndCapture(stream, &graph) == expected);
    CHECK((graph != nullptr) == (expected == hipSuccess));
    CHECK(status_of(stream) == hipStreamCaptureStatusNone && status_of(side) == hipStreamCaptureStatusNone);
    (void)hipGetLastError();
    return graph;
}
static size_t nodes_of(hipGraph_t graph) {
    size_t count = 0;
    RUN(hipGraphGetNodes(graph, nullptr, &count));
    return count;
}

static void what_is_taken_down() {
    int called = 0, from_host[64] = {};
    RUN(hipMemset(data, 0, 512));
    RUN(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    CHECK(status_of(stream) == hipStreamCaptureStatusActive && status_of(side) == hipStreamCaptureStatusNone);
    RUN(hipMemcpyAsync(data, from_host, 256, hipMemcpyHostToDevice, stream));
    RUN(hipMemcpyAsync(data, from_host, 0, hipMemcpyHostToDevice, stream));  // nothing
    add<<<1, 64, 0, stream>>>(data, 1);
    RUN(hipGetLastError());
    RUN(hipMemsetAsync(data + 64, 1, 128, stream));
    RUN(hipMemset2DAsync(data + 64, 8, 2, 4, 16, stream));
    RUN(hipMemsetD32Async(data + 127, 77, 1, stream));
    RUN(hipMemcpy2DAsync(data + 32, 8, data + 64, 8, 4, 4, hipMemcpyDeviceToDevice, stream));
    RUN(hipLaunchHostFunc(stream, count, &called));
    RUN(hipMemcpyToSymbolAsync(HIP_SYMBOL(symbol), data, 4, 4, hipMemcpyDeviceToDevice, stream));
    RUN(hipMemcpyFromSymbolAsync(data + 1, HIP_SYMBOL(symbol), 4, 4, hipMemcpyDeviceToDevice, stream));
    add<<<1, 1025, 0, stream>>>(data, 1);
    CHECK(hipGetLastError() == hipErrorInvalidConfiguration);
    hipGraph_t graph = ended();
    CHECK(nodes_of(graph) == 9 && called == 0 && fetched(data, 128) == std::vector<int>(128));

    hipGraphExec_t exec;
    RUN(cudaGraphInstantiate(&exec, graph, 0));
    from_host[0] = 40;
    RUN(hipGraphLaunch(exec, stream));
    RUN(hipStreamSynchronize(stream));
    std::vector<int> now = fetched(data, 128);
    CHECK(called == 1 && now[0] == 41 && now[1] == 41 && now[2] == 1 && now[127] == 77);
    CHECK(now[64] == 0x02020202 && now[65] == 0x01010101 && now[32] == 0x02020202 && now[33] == 1 && now[96] == 0);
    RUN(hipGraphLaunch(exec, stream));
    CHECK(called == 2);

    // A graph that is launched into a captured stream is a node.
    RUN(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
    RUN(hipGraphLaunch(exec, stream));
    hipGraph_t outer = ended();
    hipGraphNode_t node;
    size_t size = 1;
    RUN(hipGraphGetNodes(outer, &node, &size));
    hipGraphNodeType kind;
    RUN(hipGraphNodeGetType(node, &kind));
    CHECK(size == 1 && kind == hipGraphNodeTypeGraph && called == 2);
}

static void fork_and_join() {
    hipEvent_t fork, join;
    RUN(hipEventCreate(&fork));
    RUN(hipEventCreate(&join));
    RUN(hipMemset(data, 0, 512));
    RUN(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    add<<<1, 64, 0, stream>>>(data, 5);
    RUN(hipEventRecord(fork, stream));
    RUN(hipStreamWaitEvent(side, fork));
    CHECK(status_of(side) == hipStreamCaptureStatusActive);
    set<<<1, 64, 0, side>>>(data + 64, data);
    add<<<1, 64, 0, stream>>>(data, 6);
    RUN(hipEventRecord(join, side));
    CHECK(hipStreamEndCapture(side, nullptr) == hipErrorInvalidValue);
    hipGraph_t graph = nullptr;
    CHECK(hipStreamEndCapture(side, &graph) == hipErrorStreamCaptureUnmatched);
    RUN(hipStreamWaitEvent(stream, join));
    unsigned long long id = 0;
    const hipGraphNode_t* last;
    size_t size;
    hipStreamCaptureStatus status;
    RUN(hipStreamGetCaptureInfo_v2(stream, &status, &id, &graph, &last, &size));
    CHECK(status == hipStreamCaptureStatusActive && id > 0 && size == 2 && nodes_of(graph) == 3);
    hipGraphNode_t roots[2];
    size_t root_count = 2;
    RUN(hipGraphGetRootNodes(graph, roots, &root_count));
    CHECK(root_count == 1);
    RUN(hipStreamUpdateCaptureDependencies(stream, roots, 1, hipStreamAddCaptureDependencies));
    set<<<1, 1, 0, stream>>>(data + 64, data);
    graph = ended();
    hipGraphNode_t begins[8], ends[8];
    size = 8;
    RUN(hipGraphGetEdges(graph, begins, ends, &size));
    CHECK(size == 5);
    hipGraphExec_t exec;
    RUN(hipGraphInstantiateWithFlags(&exec, graph, 0));
    RUN(hipGraphLaunch(exec, side));
    CHECK(fetched(data, 128)[0] == 11 && fetched(data, 128)[64] == 11 && fetched(data, 128)[65] == 5);

    RUN(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    RUN(hipEventRecord(fork, stream));
    RUN(hipStreamWaitEvent(side, fork));
    add<<<1, 64, 0, side>>>(data, 1);
    ended(hipErrorStreamCaptureUnjoined);

    // After its capture an event is as any other.
    RUN(hipEventRecord(fork, side));
    RUN(hipEventSynchronize(fork));

    RUN(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
    RUN(hipStreamBeginCapture(side, hipStreamCaptureModeRelaxed));
    RUN(hipEventRecord(fork, side));
    CHECK(hipStreamWaitEvent(stream, fork) == hipErrorStreamCaptureMerge);
    CHECK(hipStreamEndCapture(side, &graph) == hipErrorStreamCaptureInvalidated);
    ended(hipErrorStreamCaptureInvalidated);

    RUN(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
    CHECK(hipStreamWaitEvent(stream, fork) == hipErrorStreamCaptureIsolation);
    ended(hipErrorStreamCaptureInvalidated);

    // Events that work outside of the capture waits for, and the reverse.
    RUN(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
    RUN(hipEventRecordWithFlags(join, stream, hipEventRecordExternal));
    RUN(hipStreamWaitEvent(stream, fork, hipEventWaitExternal));
    CHECK(nodes_of(ended()) == 2);
}

template <class Call> static void refuses(hipError_t expected, Call call) {
    RUN(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    add<<<1, 64, 0, stream>>>(data, 1000);
    RUN(hipGetLastError());
    CHECK(call() == expected);
    CHECK(status_of(stream) == hipStreamCaptureStatusInvalidated);
    add<<<1, 64, 0, stream>>>(data, 1000);
    CHECK(hipGetLastError() == hipErrorStreamCaptureInvalidated);
    ended(hipErrorStreamCaptureInvalidated);
}

static void what_is_refused() {
    RUN(hipMemset(data, 0, 512));
    int host = 0;
    void* pointer = data;
    hipEvent_t event;
    RUN(hipEventCreate(&event));
    refuses(hipErrorStreamCaptureUnsupported, [] { return hipDeviceSynchronize(); });
    refuses(hipErrorStreamCaptureUnsupported, [] { return hipStreamSynchronize(stream); });
    refuses(hipErrorStreamCaptureUnsupported, [] { return hipStreamQuery(stream); });
    refuses(hipErrorStreamCaptureUnsupported, [] { return hipStreamSynchronize(side); });
    refuses(hipErrorStreamCaptureUnsupported, [&] { return hipMalloc(&pointer, 16); });
    refuses(hipErrorStreamCaptureUnsupported, [&] { return hipFree(pointer); });
    refuses(hipErrorStreamCaptureUnsupported, [&] { return hipMallocAsync(&pointer, 16, stream); });
    refuses(hipErrorStreamCaptureUnsupported, [&] { return hipFreeAsync(pointer, stream); });
    refuses(hipErrorStreamCaptureUnsupported, [] { return hipStreamAddCallback(stream, on_stream, nullptr, 0); });
    refuses(hipErrorStreamCaptureImplicit, [&] { return hipMemcpy(&host, data, 4, hipMemcpyDeviceToHost); });
    refuses(hipErrorStreamCaptureImplicit, [] { return hipMemset(data, 1, 4); });
    refuses(hipErrorStreamCaptureImplicit, [&] { return hipMemcpyToSymbol(HIP_SYMBOL(symbol), &host, 4); });
    refuses(hipErrorStreamCaptureImplicit, [] { return hipMemsetAsync(data, 1, 4, nullptr); });
    refuses(hipErrorStreamCaptureImplicit, [] { return add<<<1, 64>>>(data, 1), hipGetLastError(); });
    refuses(hipErrorCapturedEvent, [&] { return (void)hipEventRecord(event, stream), hipEventSynchronize(event); });
    refuses(hipErrorCapturedEvent, [&] { return (void)hipEventRecord(event, stream), hipEventQuery(event); });
    CHECK(fetched(data, 128) == std::vector<int>(128));

    CHECK(hipStreamBeginCapture(nullptr, hipStreamCaptureModeGlobal) == hipErrorStreamCaptureUnsupported);
    CHECK(hipStreamBeginCapture(stream, hipStreamCaptureMode(9)) == hipErrorInvalidValue);
    hipGraph_t graph;
    CHECK(hipStreamEndCapture(stream, &graph) == hipErrorIllegalState);
    RUN(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal) == hipErrorIllegalState);
    hipStreamCaptureStatus status;
    CHECK(hipStreamIsCapturing(nullptr, &status) == hipErrorStreamCaptureImplicit);
    ended();

    // What a capture's mode lets other calls do.
    RUN(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
    RUN(hipMalloc(&pointer, 16));
    RUN(hipStreamSynchronize(side));
    ended();
    RUN(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    hipStreamCaptureMode mode = hipStreamCaptureModeRelaxed;
    RUN(hipThreadExchangeStreamCaptureMode(&mode));
    RUN(hipFree(pointer));
    RUN(hipThreadExchangeStreamCaptureMode(&mode));
    CHECK(mode == hipStreamCaptureModeRelaxed);
    hipError_t elsewhere, there;
    std::thread([&] {
        hipGraph_t ignored;
        elsewhere = hipStreamEndCapture(stream, &ignored);
        there = hipMalloc(&pointer, 16);
    }).join();
    CHECK(elsewhere == hipErrorStreamCaptureWrongThread && there == hipErrorStreamCaptureUnsupported);
    ended(hipErrorStreamCaptureInvalidated);
    RUN(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
    std::thread([&] { there = hipMalloc(&pointer, 16); }).join();
    CHECK(there == hipSuccess);
    ended();

    // The default stream does not wait for this one, nor a destroyed one for anything.
    hipStream_t apart;
    RUN(hipStreamCreateWithFlags(&apart, hipStreamNonBlocking));
    RUN(hipStreamBeginCapture(apart, hipStreamCaptureModeRelaxed));
    add<<<1, 64>>>(data, 3);
    RUN(hipGetLastError());
    add<<<1, 64, 0, apart>>>(data, 500);
    RUN(hipStreamDestroy(apart));
    CHECK(fetched(data, 1)[0] == 3);

    // Into a graph that is there.
    hipGraphNode_t node;
    RUN(hipGraphCreate(&graph, 0));
    RUN(hipGraphAddEmptyNode(&node, graph, nullptr, 0));
    RUN(hipStreamBeginCaptureToGraph(stream, graph, &node, nullptr, 1, hipStreamCaptureModeGlobal));
    add<<<1, 64, 0, stream>>>(data, 1);
    CHECK(ended() == graph && nodes_of(graph) == 2);
}

int main() {
    RUN(hipStreamCreate(&stream));
    RUN(hipStreamCreate(&side));
    data = zeros<int>(128);
    what_is_taken_down();
    fork_and_join();
    what_is_refused();
    return failures;
}
