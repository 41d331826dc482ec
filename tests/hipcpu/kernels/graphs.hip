// Graphs built by hand, each kind of node in them, changed and launched again.
#include <hip/hip_runtime.h>
#include <string>

struct Padded {
    char small;
    double large;
};
__device__ int symbol[4];
__global__ void add(int* data, int value) { atomicAdd(&data[threadIdx.x], value); }
__global__ void twice(int* data) { data[threadIdx.x] *= 2; }
__global__ void of_struct(int* data, Padded value) { data[threadIdx.x] = value.small + int(value.large); }
__global__ void over_barrier(int* data) {
    __shared__ int values[64];
    values[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = values[63 - threadIdx.x];
}
static void count(void* counter) { ++*static_cast<int*>(counter); }

static hipKernelNodeParams launch_of(const void* kernel, void** arguments, unsigned threads = 64) {
    hipKernelNodeParams params{};
    params.func = const_cast<void*>(kernel);
    params.gridDim = dim3(1);
    params.blockDim = dim3(threads);
    params.kernelParams = arguments;
    return params;
}
static size_t nodes_of(hipGraph_t graph) {
    size_t count = 0;
    RUN(hipGraphGetNodes(graph, nullptr, &count));
    return count;
}
static hipGraphExec_t ready(hipGraph_t graph) {
    hipGraphExec_t exec = nullptr;
    RUN(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    return exec;
}

static void nodes_of_each_kind() {
    int* data = zeros<int>(64);
    std::vector<int> host(64, 5), back(64);
    int value = 3, called = 0;
    void* add_arguments[] = {&data, &value};
    void* twice_arguments[] = {&data};
    hipEvent_t event;
    RUN(hipEventCreate(&event));
    hipGraph_t graph, child;
    RUN(hipGraphCreate(&graph, 0));
    RUN(hipGraphCreate(&child, 0));

    hipGraphNode_t copy_in, first, inner, in_child, nothing, note, wait, call, copy_out, to, from;
    RUN(hipGraphAddMemcpyNode1D(&copy_in, graph, nullptr, 0, data, host.data(), 256, hipMemcpyHostToDevice));
    auto params = launch_of((const void*)add, add_arguments);
    RUN(hipGraphAddKernelNode(&first, graph, &copy_in, 1, &params));
    value = 100;  // was copied
    params = launch_of((const void*)twice, twice_arguments);
    RUN(hipGraphAddKernelNode(&inner, child, nullptr, 0, &params));
    RUN(hipGraphAddChildGraphNode(&in_child, graph, &first, 1, child));
    RUN(hipGraphAddEmptyNode(&nothing, graph, &in_child, 1));
    RUN(hipGraphAddEventRecordNode(&note, graph, &nothing, 1, event));
    RUN(hipGraphAddEventWaitNode(&wait, graph, &note, 1, event));
    hipHostNodeParams call_params{count, &called};
    RUN(hipGraphAddHostNode(&call, graph, &wait, 1, &call_params));
    hipMemcpy3DParms out{};
    out.srcPtr = make_hipPitchedPtr(data, 128, 128, 2);
    out.dstPtr = make_hipPitchedPtr(back.data(), 128, 128, 2);
    out.extent = make_hipExtent(64, 2, 1);
    out.kind = hipMemcpyDeviceToHost;
    RUN(hipGraphAddMemcpyNode(&copy_out, graph, &call, 1, &out));
    RUN(hipGraphAddMemcpyNodeToSymbol(&to, graph, &call, 1, HIP_SYMBOL(symbol), data, 8, 8, hipMemcpyDeviceToDevice));
    RUN(hipGraphAddMemcpyNodeFromSymbol(&from, graph, &to, 1, data, HIP_SYMBOL(symbol), 4, 4, hipMemcpyDeviceToDevice));

    hipGraphExec_t exec = ready(graph);
    CHECK(called == 0 && fetched(data, 1)[0] == 0);
    RUN(hipGraphUpload(exec, nullptr));
    RUN(hipGraphLaunch(exec, nullptr));
    // (5 + 3) * 2 in two rows of 64 bytes, and what was in symbol[1] in the first element of the device's.
    CHECK(called == 1 && back[0] == 16 && back[15] == 16 && back[16] == 0 && back[32] == 16 && back[48] == 0);
    CHECK(fetched(data, 2)[0] == 0 && fetched(data, 2)[1] == 16);
    float milliseconds;
    RUN(hipEventElapsedTime(&milliseconds, event, event));
    host.assign(64, 7);
    RUN(hipGraphLaunch(exec, nullptr));
    CHECK(called == 2 && back[0] == 20);

    const hipGraphNodeType kinds[] = {hipGraphNodeTypeMemcpy, hipGraphNodeTypeKernel, hipGraphNodeTypeGraph,
                                      hipGraphNodeTypeEmpty, hipGraphNodeTypeEventRecord, hipGraphNodeTypeWaitEvent,
                                      hipGraphNodeTypeHost};
    const hipGraphNode_t nodes[] = {copy_in, first, in_child, nothing, note, wait, call};
    for (int at = 0; at < 7; ++at) {
        hipGraphNodeType kind;
        RUN(hipGraphNodeGetType(nodes[at], &kind));
        CHECK(kind == kinds[at]);
    }
    hipEvent_t held;
    RUN(hipGraphEventRecordNodeGetEvent(note, &held));
    CHECK(held == event);
    CHECK(hipGraphEventWaitNodeGetEvent(note, &held) == hipErrorInvalidValue);
    hipGraph_t embedded;
    RUN(hipGraphChildGraphNodeGetGraph(in_child, &embedded));
    CHECK(embedded != child && nodes_of(embedded) == 1 && hipGraphDestroy(embedded) == hipErrorInvalidValue);

    RUN(hipGraphDestroy(child));
    RUN(hipGraphDestroy(graph));  // what was made ready stays
    RUN(hipGraphLaunch(exec, nullptr));
    CHECK(called == 3);
    RUN(hipGraphExecDestroy(exec));
    CHECK(hipGraphLaunch(exec, nullptr) == hipErrorInvalidValue);
    CHECK(hipGraphExecDestroy(exec) == hipErrorInvalidValue && hipGraphDestroy(graph) == hipErrorInvalidValue);
}

static void parameters() {
    int* data = zeros<int>(64);
    int* other = zeros<int>(64);
    int value = 3;
    void* arguments[] = {&data, &value};
    hipGraph_t graph;
    RUN(hipGraphCreate(&graph, 0));
    hipGraphNode_t clear, launch;
    hipMemsetParams fill{data, 4, 1, 0, 9, 64};
    RUN(hipGraphAddMemsetNode(&clear, graph, nullptr, 0, &fill));
    auto params = launch_of((const void*)add, arguments);
    RUN(hipGraphAddKernelNode(&launch, graph, &clear, 1, &params));
    hipGraphExec_t exec = ready(graph);
    RUN(hipGraphLaunch(exec, nullptr));
    CHECK(fetched(data, 64)[63] == 12);

    hipKernelNodeParams held;
    RUN(hipGraphKernelNodeGetParams(launch, &held));
    CHECK(held.func == (void*)add && held.blockDim.x == 64 && *static_cast<int*>(held.kernelParams[1]) == 3);
    value = 4;
    RUN(hipGraphExecKernelNodeSetParams(exec, launch, &params));
    fill = {data, 2, 2, 128, 1, 32};  // two rows of 32 halves
    RUN(hipGraphExecMemsetNodeSetParams(exec, clear, &fill));
    RUN(hipGraphLaunch(exec, nullptr));
    CHECK(fetched(data, 64)[0] == 0x10001 + 4 && fetched(data, 64)[20] == 12 + 4);
    // The graph itself has what it had.
    hipGraphExec_t again = ready(graph);
    RUN(hipGraphLaunch(again, nullptr));
    CHECK(fetched(data, 1)[0] == 12);
    RUN(hipGraphMemsetNodeGetParams(clear, &fill));
    CHECK(fill.value == 9);

    // An update by another graph of the same shape.
    hipGraph_t changed;
    RUN(hipGraphClone(&changed, graph));
    hipGraphNode_t clear_clone, launch_clone, different;
    RUN(hipGraphNodeFindInClone(&clear_clone, clear, changed));
    RUN(hipGraphNodeFindInClone(&launch_clone, launch, changed));
    int* target = other;
    void* others[] = {&target, &value};
    value = 50;
    params = launch_of((const void*)add, others, 2);
    RUN(hipGraphKernelNodeSetParams(launch_clone, &params));
    hipGraphExecUpdateResult result;
    RUN(hipGraphExecUpdate(again, changed, &different, &result));
    CHECK(result == hipGraphExecUpdateSuccess && different == nullptr);
    RUN(hipGraphLaunch(again, nullptr));
    CHECK(fetched(other, 4) == (std::vector<int>{50, 50, 0, 0}) && fetched(data, 1)[0] == 9);
    hipGraphNode_t more;
    RUN(hipGraphAddEmptyNode(&more, changed, &launch_clone, 1));
    CHECK(hipGraphExecUpdate(again, changed, &different, &result) == hipErrorGraphExecUpdateFailure);
    CHECK(result == hipGraphExecUpdateErrorTopologyChanged);
    RUN(hipGraphDestroyNode(launch_clone));
    CHECK(hipGraphExecUpdate(again, changed, &different, &result) == hipErrorGraphExecUpdateFailure);
    CHECK(result == hipGraphExecUpdateErrorNodeTypeChanged && different == more);

    // A node that is off is passed over.
    unsigned is_enabled = 7;
    RUN(hipGraphNodeSetEnabled(exec, launch, 0));
    RUN(hipGraphNodeGetEnabled(exec, launch, &is_enabled));
    RUN(hipGraphLaunch(exec, nullptr));
    CHECK(is_enabled == 0 && fetched(data, 64)[0] == 0x10001);

    hipKernelNodeAttrValue attribute{};
    attribute.priority = 5;
    RUN(hipGraphKernelNodeSetAttribute(launch, hipKernelNodeAttributePriority, &attribute));
    attribute.priority = 0;
    RUN(hipGraphKernelNodeGetAttribute(launch, hipKernelNodeAttributePriority, &attribute));
    CHECK(attribute.priority == 5);

    // The same by the general call; structs keep their values.
    hipGraphNodeParams general{};
    general.type = hipGraphNodeTypeKernel;
    Padded padded{2, 40.0};
    void* of[] = {&data, &padded};
    general.kernel = launch_of((const void*)of_struct, of);
    hipGraph_t second;
    RUN(hipGraphCreate(&second, 0));
    hipGraphNode_t only, last;
    RUN(hipGraphAddNode(&only, second, nullptr, 0, &general));
    void* over[] = {&data};
    params = launch_of((const void*)over_barrier, over);
    RUN(hipGraphAddKernelNode(&last, second, &only, 1, &params));
    padded = {0, 0};
    exec = ready(second);
    RUN(hipGraphLaunch(exec, nullptr));
    CHECK(fetched(data, 64)[63] == 42);
    padded = {1, 1};
    RUN(hipGraphExecNodeSetParams(exec, only, &general));
    RUN(hipGraphLaunch(exec, nullptr));
    CHECK(fetched(data, 64)[63] == 2);
}

static void shapes_and_errors() {
    hipGraph_t graph, other;
    RUN(hipGraphCreate(&graph, 0));
    RUN(hipGraphCreate(&other, 0));
    hipGraphNode_t a, b, c, elsewhere;
    RUN(hipGraphAddEmptyNode(&a, graph, nullptr, 0));
    RUN(hipGraphAddEmptyNode(&b, graph, nullptr, 0));
    RUN(hipGraphAddEmptyNode(&c, graph, &a, 1));
    RUN(hipGraphAddEmptyNode(&elsewhere, other, nullptr, 0));
    RUN(hipGraphAddDependencies(graph, &b, &a, 1));
    CHECK(hipGraphAddDependencies(graph, &b, &a, 1) == hipErrorInvalidValue);
    CHECK(hipGraphAddDependencies(graph, &elsewhere, &a, 1) == hipErrorInvalidValue);
    CHECK(hipGraphAddDependencies(graph, &a, &a, 1) == hipErrorInvalidValue);
    CHECK(hipGraphAddEmptyNode(&c, graph, &elsewhere, 1) == hipErrorInvalidValue);
    hipGraphNode_t begins[3], ends[3], found[3];
    size_t size = 3;
    RUN(hipGraphGetEdges(graph, begins, ends, &size));
    CHECK(size == 2 && begins[0] == b && ends[0] == a && begins[1] == a && ends[1] == c);
    size = 3;
    RUN(hipGraphGetRootNodes(graph, found, &size));
    CHECK(size == 1 && found[0] == b && found[1] == nullptr);
    size = 3;
    RUN(hipGraphNodeGetDependentNodes(a, found, &size));
    CHECK(size == 1 && found[0] == c);
    size = 3;
    RUN(hipGraphNodeGetDependencies(a, found, &size));
    CHECK(size == 1 && found[0] == b);

    hipGraphExec_t exec;
    RUN(hipGraphAddDependencies(graph, &c, &b, 1));
    CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0) == hipErrorInvalidValue);
    RUN(hipGraphRemoveDependencies(graph, &c, &b, 1));
    CHECK(hipGraphRemoveDependencies(graph, &c, &b, 1) == hipErrorInvalidValue);
    hipGraphInstantiateParams params{};
    params.flags = hipGraphInstantiateFlagUpload;
    RUN(hipGraphInstantiateWithParams(&exec, graph, &params));
    unsigned long long flags;
    RUN(hipGraphExecGetFlags(exec, &flags));
    CHECK(params.result_out == hipGraphInstantiateSuccess && flags == hipGraphInstantiateFlagUpload);

    int* data = zeros<int>(64);
    int value = 1;
    void* arguments[] = {&data, &value};
    hipGraphNode_t bad;
    auto too_many = launch_of((const void*)add, arguments, 1025);
    CHECK(hipGraphAddKernelNode(&bad, graph, nullptr, 0, &too_many) == hipErrorInvalidConfiguration);
    auto no_kernel = launch_of(data, arguments);
    CHECK(hipGraphAddKernelNode(&bad, graph, nullptr, 0, &no_kernel) == hipErrorInvalidDeviceFunction);
    auto no_arguments = launch_of((const void*)add, nullptr);
    CHECK(hipGraphAddKernelNode(&bad, graph, nullptr, 0, &no_arguments) == hipErrorInvalidValue);
    hipMemsetParams odd{data, 3, 1, 0, 0, 4};
    CHECK(hipGraphAddMemsetNode(&bad, graph, nullptr, 0, &odd) == hipErrorInvalidValue);
    hipHostNodeParams none{};
    CHECK(hipGraphAddHostNode(&bad, graph, nullptr, 0, &none) == hipErrorInvalidValue);
    CHECK(hipGraphAddMemcpyNode1D(&bad, graph, nullptr, 0, data, nullptr, 4, hipMemcpyDefault) == hipErrorInvalidValue);
    CHECK(hipGraphExecHostNodeSetParams(exec, a, &none) == hipErrorInvalidValue);
    CHECK(hipGraphCreate(&other, 1) == hipErrorInvalidValue);
    CHECK(nodes_of(graph) == 3);

    hipUserObject_t object;
    int destroyed = 0;
    RUN(hipUserObjectCreate(&object, &destroyed, count, 1, hipUserObjectNoDestructorSync));
    RUN(hipGraphRetainUserObject(graph, object, 1, hipGraphUserObjectMove));
    hipGraphExec_t keeps = ready(graph);
    RUN(hipGraphDestroy(graph));
    CHECK(destroyed == 0);
    RUN(hipGraphExecDestroy(keeps));
    CHECK(destroyed == 1 && hipUserObjectRetain(object) == hipErrorInvalidValue);
}

static void drawing() {
    hipGraph_t graph;
    RUN(hipGraphCreate(&graph, 0));
    int* data = zeros<int>(64);
    void* arguments[] = {&data};
    hipGraphNode_t launch, after;
    auto params = launch_of((const void*)twice, arguments);
    RUN(hipGraphAddKernelNode(&launch, graph, nullptr, 0, &params));
    RUN(hipGraphAddEmptyNode(&after, graph, &launch, 1));
    FILE* file = std::tmpfile();
    const std::string path = "/proc/self/fd/" + std::to_string(fileno(file));
    RUN(hipGraphDebugDotPrint(graph, path.c_str(), hipGraphDebugDotFlagsVerbose));
    char text[1000] = {};
    CHECK(std::fread(text, 1, sizeof text - 1, file) > 0);
    CHECK(std::string(text).find("digraph {") == 0 && std::strstr(text, "kernel\\ntwice") && std::strstr(text, "->"));
    CHECK(hipGraphDebugDotPrint(graph, "no/such/folder", 0) == hipErrorInvalidValue);
}

int main() {
    nodes_of_each_kind();
    parameters();
    shapes_and_errors();
    drawing();
    return failures;
}
