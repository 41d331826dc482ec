// Nodes by kind: added to a graph, asked for, and changed in a graph or in what was made of it for launches.
#include <algorithm>
#include <utility>

#include "../calls/errors.h"
#include "../calls/registry.h"
#include "exec.h"
#include "graph.h"

using namespace wavepool;
using namespace wavepool::graphs;

namespace {
using Lock = std::lock_guard<std::recursive_mutex>;

hipError_t add(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* before, size_t count,
               Operation operation, const char* name = __builtin_FUNCTION()) {
    Lock lock(mutex());
    if (!node || !is_live(graph) || (count && !before)) return remember(hipErrorInvalidValue, name);
    return remember(add_node(*graph, std::vector<hipGraphNode_t>(before, before + count), std::move(operation), node),
                    name);
}

// Null where the node is none of this kind.
template <class Kind> Kind* part(hipGraphNode_t node) {
    return is_live(node) ? std::get_if<Kind>(&node->operation) : nullptr;
}

hipError_t set(hipGraphNode_t node, Operation operation, const char* name = __builtin_FUNCTION()) {
    Lock lock(mutex());
    if (!is_live(node) || node->operation.index() != operation.index()) return remember(hipErrorInvalidValue, name);
    if (hipError_t error = fault_of(operation)) return remember(error, name);
    if (auto* kernel = std::get_if<Kernel>(&operation)) {
        const Kernel& old = std::get<Kernel>(node->operation);
        kernel->attributes = old.attributes;
        kernel->is_cooperative = old.is_cooperative;
    }
    node->operation = std::move(operation);
    return hipSuccess;
}

hipError_t set_in(hipGraphExec_t exec, hipGraphNode_t node, Operation operation,
                  const char* name = __builtin_FUNCTION()) {
    Lock lock(mutex());
    hipGraphNode_t copied = is_live(exec) ? copy_in(*exec->graph, node) : nullptr;
    return copied ? set(copied, std::move(operation), name) : remember(hipErrorInvalidValue, name);
}

template <class Kind> hipError_t get(hipGraphNode_t node, Kind* found, const char* name = __builtin_FUNCTION()) {
    Lock lock(mutex());
    const Kind* held = part<Kind>(node);
    if (!held || !found) return remember(hipErrorInvalidValue, name);
    *found = *held;
    return hipSuccess;
}

// The launch that the parameters ask for, or why there is none.
hipError_t kernel_from(const hipKernelNodeParams* params, Operation* made) {
    if (!params) return hipErrorInvalidValue;
    if (params->extra) {
        explain("arguments in `extra` are not on the cpu device; give their addresses in `kernelParams`");
        return hipErrorNotSupported;
    }
    Kernel kernel;
    const hipError_t error = make_kernel(kernel_of(params->func), params->func, params->gridDim, params->blockDim,
                                         params->kernelParams, params->sharedMemBytes, &kernel);
    if (error == hipSuccess) *made = std::move(kernel);
    return error;
}

hipError_t child_from(hipGraph_t graph, Operation* made) {
    if (!is_live(graph)) return hipErrorInvalidValue;
    Child child{clone(*graph)};
    child.graph->is_embedded = true;
    *made = std::move(child);
    return hipSuccess;
}

hipError_t operation_from(const hipGraphNodeParams* params, Operation* made) {
    if (!params) return hipErrorInvalidValue;
    switch (params->type) {
        case hipGraphNodeTypeKernel: return kernel_from(&params->kernel, made);
        case hipGraphNodeTypeMemcpy: return *made = params->memcpy.copyParams, hipSuccess;
        case hipGraphNodeTypeMemset: return *made = params->memset, hipSuccess;
        case hipGraphNodeTypeHost: return *made = params->host, hipSuccess;
        case hipGraphNodeTypeGraph: return child_from(params->graph.graph, made);
        case hipGraphNodeTypeEmpty: return *made = Empty{}, hipSuccess;
        case hipGraphNodeTypeWaitEvent: return *made = EventWait{params->eventWait.event}, hipSuccess;
        case hipGraphNodeTypeEventRecord: return *made = EventRecord{params->eventRecord.event}, hipSuccess;
        default: return hipErrorInvalidValue;
    }
}

hipMemcpy3DParms row(void* target, const void* source, size_t bytes, hipMemcpyKind kind) {
    return copy_of(target, bytes, source, bytes, bytes, 1, kind);
}

// What a call does with parameters that make an operation, or the error where they make none.
template <class Params, class Make, class Use>
hipError_t made_from(Params* params, Make make, Use use, const char* name = __builtin_FUNCTION()) {
    Lock lock(mutex());
    Operation operation;
    const hipError_t error = make(params, &operation);
    return error == hipSuccess ? use(std::move(operation), name) : remember(error, name);
}
}  // namespace

#define WP_NEW hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *before, size_t count
#define WP_ADD [&](Operation made, const char* name) { return add(node, graph, before, count, std::move(made), name); }
#define WP_SET [&](Operation made, const char* name) { return set(node, std::move(made), name); }
#define WP_SET_IN [&](Operation made, const char* name) { return set_in(exec, node, std::move(made), name); }

extern "C" {
hipError_t hipGraphAddNode(WP_NEW, hipGraphNodeParams* params) { return made_from(params, operation_from, WP_ADD); }
hipError_t hipGraphNodeSetParams(hipGraphNode_t node, hipGraphNodeParams* params) {
    return made_from(params, operation_from, WP_SET);
}
hipError_t hipGraphExecNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, hipGraphNodeParams* params) {
    return made_from(params, operation_from, WP_SET_IN);
}

hipError_t hipGraphAddKernelNode(WP_NEW, const hipKernelNodeParams* params) {
    return made_from(params, kernel_from, WP_ADD);
}
hipError_t hipGraphKernelNodeSetParams(hipGraphNode_t node, const hipKernelNodeParams* params) {
    return made_from(params, kernel_from, WP_SET);
}
hipError_t hipGraphExecKernelNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node,
                                           const hipKernelNodeParams* params) {
    return made_from(params, kernel_from, WP_SET_IN);
}
hipError_t hipGraphKernelNodeGetParams(hipGraphNode_t node, hipKernelNodeParams* params) {
    Lock lock(mutex());
    const Kernel* kernel = part<Kernel>(node);
    if (!kernel || !params) return remember(hipErrorInvalidValue);
    *params = {kernel->block,        nullptr, kernel->function, kernel->grid, kernel->arguments->addresses.data(),
               kernel->shared_bytes};
    return hipSuccess;
}
hipError_t hipGraphKernelNodeSetAttribute(hipGraphNode_t node, hipKernelNodeAttrID id,
                                          const hipKernelNodeAttrValue* value) {
    Lock lock(mutex());
    Kernel* kernel = part<Kernel>(node);
    if (!kernel || !value) return remember(hipErrorInvalidValue);
    kernel->attributes[id] = *value;
    if (id == hipLaunchAttributeCooperative) kernel->is_cooperative = value->cooperative != 0;
    return hipSuccess;
}
hipError_t hipGraphKernelNodeGetAttribute(hipGraphNode_t node, hipKernelNodeAttrID id, hipKernelNodeAttrValue* value) {
    Lock lock(mutex());
    const Kernel* kernel = part<Kernel>(node);
    if (!kernel || !value) return remember(hipErrorInvalidValue);
    const auto found = kernel->attributes.find(id);
    *value = found == kernel->attributes.end() ? hipKernelNodeAttrValue{} : found->second;
    if (id == hipLaunchAttributeCooperative) value->cooperative = kernel->is_cooperative;
    return hipSuccess;
}
hipError_t hipGraphKernelNodeCopyAttributes(hipGraphNode_t source, hipGraphNode_t target) {
    Lock lock(mutex());
    const Kernel* from = part<Kernel>(source);
    Kernel* to = part<Kernel>(target);
    if (!from || !to) return remember(hipErrorInvalidValue);
    to->attributes = from->attributes;
    to->is_cooperative = from->is_cooperative;
    return hipSuccess;
}

hipError_t hipGraphAddMemcpyNode(WP_NEW, const hipMemcpy3DParms* params) {
    return params ? add(node, graph, before, count, *params) : remember(hipErrorInvalidValue);
}
hipError_t hipGraphMemcpyNodeGetParams(hipGraphNode_t node, hipMemcpy3DParms* params) { return get(node, params); }
hipError_t hipGraphMemcpyNodeSetParams(hipGraphNode_t node, const hipMemcpy3DParms* params) {
    return params ? set(node, *params) : remember(hipErrorInvalidValue);
}
hipError_t hipGraphExecMemcpyNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, hipMemcpy3DParms* params) {
    return params ? set_in(exec, node, *params) : remember(hipErrorInvalidValue);
}
hipError_t hipGraphAddMemcpyNode1D(WP_NEW, void* target, const void* source, size_t bytes, hipMemcpyKind kind) {
    return add(node, graph, before, count, row(target, source, bytes, kind));
}
hipError_t hipGraphMemcpyNodeSetParams1D(hipGraphNode_t node, void* target, const void* source, size_t bytes,
                                         hipMemcpyKind kind) {
    return set(node, row(target, source, bytes, kind));
}
hipError_t hipGraphExecMemcpyNodeSetParams1D(hipGraphExec_t exec, hipGraphNode_t node, void* target,
                                             const void* source, size_t bytes, hipMemcpyKind kind) {
    return set_in(exec, node, row(target, source, bytes, kind));
}

hipError_t hipGraphAddMemcpyNodeFromSymbol(WP_NEW, void* target, const void* symbol, size_t bytes, size_t offset,
                                           hipMemcpyKind kind) {
    return add(node, graph, before, count, FromSymbol{target, symbol, bytes, offset, kind});
}
hipError_t hipGraphMemcpyNodeSetParamsFromSymbol(hipGraphNode_t node, void* target, const void* symbol, size_t bytes,
                                                 size_t offset, hipMemcpyKind kind) {
    return set(node, FromSymbol{target, symbol, bytes, offset, kind});
}
hipError_t hipGraphExecMemcpyNodeSetParamsFromSymbol(hipGraphExec_t exec, hipGraphNode_t node, void* target,
                                                     const void* symbol, size_t bytes, size_t offset,
                                                     hipMemcpyKind kind) {
    return set_in(exec, node, FromSymbol{target, symbol, bytes, offset, kind});
}
hipError_t hipGraphAddMemcpyNodeToSymbol(WP_NEW, const void* symbol, const void* source, size_t bytes, size_t offset,
                                         hipMemcpyKind kind) {
    return add(node, graph, before, count, ToSymbol{symbol, source, bytes, offset, kind});
}
hipError_t hipGraphMemcpyNodeSetParamsToSymbol(hipGraphNode_t node, const void* symbol, const void* source,
                                               size_t bytes, size_t offset, hipMemcpyKind kind) {
    return set(node, ToSymbol{symbol, source, bytes, offset, kind});
}
hipError_t hipGraphExecMemcpyNodeSetParamsToSymbol(hipGraphExec_t exec, hipGraphNode_t node, const void* symbol,
                                                   const void* source, size_t bytes, size_t offset,
                                                   hipMemcpyKind kind) {
    return set_in(exec, node, ToSymbol{symbol, source, bytes, offset, kind});
}

hipError_t hipGraphAddMemsetNode(WP_NEW, const hipMemsetParams* params) {
    return params ? add(node, graph, before, count, *params) : remember(hipErrorInvalidValue);
}
hipError_t hipGraphMemsetNodeGetParams(hipGraphNode_t node, hipMemsetParams* params) { return get(node, params); }
hipError_t hipGraphMemsetNodeSetParams(hipGraphNode_t node, const hipMemsetParams* params) {
    return params ? set(node, *params) : remember(hipErrorInvalidValue);
}
hipError_t hipGraphExecMemsetNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, const hipMemsetParams* params) {
    return params ? set_in(exec, node, *params) : remember(hipErrorInvalidValue);
}

hipError_t hipGraphAddHostNode(WP_NEW, const hipHostNodeParams* params) {
    return params ? add(node, graph, before, count, *params) : remember(hipErrorInvalidValue);
}
hipError_t hipGraphHostNodeGetParams(hipGraphNode_t node, hipHostNodeParams* params) { return get(node, params); }
hipError_t hipGraphHostNodeSetParams(hipGraphNode_t node, const hipHostNodeParams* params) {
    return params ? set(node, *params) : remember(hipErrorInvalidValue);
}
hipError_t hipGraphExecHostNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, const hipHostNodeParams* params) {
    return params ? set_in(exec, node, *params) : remember(hipErrorInvalidValue);
}

hipError_t hipGraphAddEmptyNode(WP_NEW) { return add(node, graph, before, count, Empty{}); }
hipError_t hipGraphAddChildGraphNode(WP_NEW, hipGraph_t child) { return made_from(child, child_from, WP_ADD); }
hipError_t hipGraphChildGraphNodeGetGraph(hipGraphNode_t node, hipGraph_t* child) {
    Lock lock(mutex());
    const Child* held = part<Child>(node);
    if (!held || !child) return remember(hipErrorInvalidValue);
    *child = held->graph.get();
    return hipSuccess;
}
// The graph that takes its place has to be of the same shape.
hipError_t hipGraphExecChildGraphNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, hipGraph_t child) {
    Lock lock(mutex());
    hipGraphNode_t copied = is_live(exec) ? copy_in(*exec->graph, node) : nullptr;
    const Child* held = part<Child>(copied);
    if (!held || !is_live(child)) return remember(hipErrorInvalidValue);
    hipGraphNode_t different = nullptr;
    return remember(update(*held->graph, *child, &different) == hipGraphExecUpdateSuccess ? hipSuccess
                                                                                        : hipErrorInvalidValue);
}

#define WP_EVENT_NODE(KIND, Kind)                                                                                    \
    hipError_t hipGraphAdd##KIND##Node(WP_NEW, hipEvent_t event) { return add(node, graph, before, count, Kind{event}); } \
    hipError_t hipGraph##KIND##NodeGetEvent(hipGraphNode_t node, hipEvent_t* event) {                                \
        Kind held;                                                                                                   \
        const hipError_t error = get(node, event ? &held : nullptr);                                                 \
        if (error == hipSuccess) *event = held.event;                                                                \
        return error;                                                                                                \
    }                                                                                                                \
    hipError_t hipGraph##KIND##NodeSetEvent(hipGraphNode_t node, hipEvent_t event) { return set(node, Kind{event}); } \
    hipError_t hipGraphExec##KIND##NodeSetEvent(hipGraphExec_t exec, hipGraphNode_t node, hipEvent_t event) {        \
        return set_in(exec, node, Kind{event});                                                                      \
    }
WP_EVENT_NODE(EventRecord, EventRecord)
WP_EVENT_NODE(EventWait, EventWait)
}
