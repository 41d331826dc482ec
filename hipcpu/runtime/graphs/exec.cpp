// Graphs made ready for launches, launched and updated.
#include "exec.h"

#include <algorithm>

#include "../calls/errors.h"
#include "capture.h"

using namespace wavepool;
using namespace wavepool::graphs;

namespace wavepool::graphs {
namespace {
size_t position(const ihipGraph& graph, const hipGraphNode* node) {
    const auto& nodes = graph.nodes;
    return size_t(std::find_if(nodes.begin(), nodes.end(), [&](auto& one) { return one.get() == node; }) - nodes.begin());
}

std::vector<size_t> positions_before(const ihipGraph& graph, const hipGraphNode& node) {
    std::vector<size_t> found;
    for (const hipGraphNode* one : node.before) found.push_back(position(graph, one));
    std::sort(found.begin(), found.end());
    return found;
}

hipGraphExecUpdateResult difference(const ihipGraph& old, const ihipGraph& changed, hipGraphNode_t* different) {
    *different = nullptr;
    if (old.nodes.size() != changed.nodes.size()) return hipGraphExecUpdateErrorTopologyChanged;
    for (size_t at = 0; at < old.nodes.size(); ++at) {
        const hipGraphNode &before = *old.nodes[at], &after = *changed.nodes[at];
        *different = changed.nodes[at].get();
        if (before.operation.index() != after.operation.index()) return hipGraphExecUpdateErrorNodeTypeChanged;
        if (positions_before(old, before) != positions_before(changed, after))
            return hipGraphExecUpdateErrorTopologyChanged;
        if (const auto* copy = std::get_if<hipMemcpy3DParms>(&before.operation))
            if (copy->kind != std::get<hipMemcpy3DParms>(after.operation).kind)
                return hipGraphExecUpdateErrorParametersChanged;
        if (const auto* child = std::get_if<Child>(&before.operation)) {
            const auto inner = difference(*child->graph, *std::get<Child>(after.operation).graph, different);
            if (inner != hipGraphExecUpdateSuccess) return inner;
        }
    }
    *different = nullptr;
    return hipGraphExecUpdateSuccess;
}

void take_over(ihipGraph& old, const ihipGraph& changed) {
    for (size_t at = 0; at < old.nodes.size(); ++at) {
        Operation& operation = old.nodes[at]->operation;
        if (auto* child = std::get_if<Child>(&operation))
            take_over(*child->graph, *std::get<Child>(changed.nodes[at]->operation).graph);
        else operation = changed.nodes[at]->operation;
    }
}

bool can_be_ordered(const ihipGraph& graph) {
    if (in_order(graph).size() != graph.nodes.size()) return false;
    return std::all_of(graph.nodes.begin(), graph.nodes.end(), [](const auto& node) {
        const auto* child = std::get_if<Child>(&node->operation);
        return !child || can_be_ordered(*child->graph);
    });
}

hipError_t instantiate(hipGraphExec_t* exec, hipGraph_t graph, unsigned long long flags, const char* name) {
    std::lock_guard<std::recursive_mutex> lock(mutex());
    if (!exec || !is_live(graph)) return remember(hipErrorInvalidValue, name);
    if (!can_be_ordered(*graph)) {
        explain("the nodes of the graph depend on each other in a circle");
        return remember(hipErrorInvalidValue, name);
    }
    *exec = new hipGraphExec;
    (*exec)->graph = clone(*graph);
    (*exec)->flags = flags;
    return hipSuccess;
}

hipGraphNode_t switchable_copy(hipGraphExec_t exec, hipGraphNode_t node) {
    hipGraphNode_t copied = is_live(exec) ? copy_in(*exec->graph, node) : nullptr;
    // As HIP: launches, copies and fills.
    return copied && copied->operation.index() <= Operation(hipMemsetParams{}).index() ? copied : nullptr;
}
}  // namespace

hipGraphNode_t copy_in(const ihipGraph& graph, const hipGraphNode* node) {
    for (const auto& one : graph.nodes) {
        if (one->origin == node) return one.get();
        const auto* child = std::get_if<Child>(&one->operation);
        if (hipGraphNode_t found = child ? copy_in(*child->graph, node) : nullptr) return found;
    }
    return nullptr;
}

hipGraphExecUpdateResult update(ihipGraph& old, const ihipGraph& changed, hipGraphNode_t* different) {
    const hipGraphExecUpdateResult result = difference(old, changed, different);
    if (result == hipGraphExecUpdateSuccess) take_over(old, changed);
    return result;
}
}  // namespace wavepool::graphs

extern "C" {
hipError_t hipGraphInstantiate(hipGraphExec_t* exec, hipGraph_t graph, hipGraphNode_t* error_node, char* log,
                               size_t log_bytes) {
    if (error_node) *error_node = nullptr;
    if (log && log_bytes) *log = '\0';
    return instantiate(exec, graph, 0, "hipGraphInstantiate");
}
hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t* exec, hipGraph_t graph, unsigned long long flags) {
    return instantiate(exec, graph, flags, "hipGraphInstantiateWithFlags");
}
hipError_t hipGraphInstantiateWithParams(hipGraphExec_t* exec, hipGraph_t graph, hipGraphInstantiateParams* params) {
    if (!params) return remember(hipErrorInvalidValue);
    const hipError_t error = instantiate(exec, graph, params->flags, "hipGraphInstantiateWithParams");
    params->errNode_out = nullptr;
    params->result_out = error == hipSuccess ? hipGraphInstantiateSuccess : hipGraphInstantiateInvalidStructure;
    return error;
}
hipError_t hipGraphExecGetFlags(hipGraphExec_t exec, unsigned long long* flags) {
    std::lock_guard<std::recursive_mutex> lock(mutex());
    if (!is_live(exec) || !flags) return remember(hipErrorInvalidValue);
    *flags = exec->flags;
    return hipSuccess;
}
hipError_t hipGraphExecDestroy(hipGraphExec_t exec) {
    std::lock_guard<std::recursive_mutex> lock(mutex());
    if (!is_live(exec)) return remember(hipErrorInvalidValue);
    delete exec;
    return hipSuccess;
}
hipError_t hipGraphUpload(hipGraphExec_t exec, hipStream_t) {
    std::lock_guard<std::recursive_mutex> lock(mutex());
    return remember(is_live(exec) ? hipSuccess : hipErrorInvalidValue);
}
hipError_t hipGraphLaunch(hipGraphExec_t exec, hipStream_t stream) {
    std::unique_lock<std::recursive_mutex> lock(mutex());
    if (!is_live(exec)) return remember(hipErrorInvalidValue);
    Child launched{exec->graph};
    if (is_captured(stream)) {
        launched.graph = clone(*exec->graph);
        launched.graph->is_embedded = true;
        return remember(take(stream, std::move(launched)));
    }
    lock.unlock();
    return remember(perform(std::move(launched), stream));
}
hipError_t hipGraphExecUpdate(hipGraphExec_t exec, hipGraph_t graph, hipGraphNode_t* error_node,
                              hipGraphExecUpdateResult* result) {
    std::lock_guard<std::recursive_mutex> lock(mutex());
    if (!is_live(exec) || !is_live(graph) || !error_node || !result) return remember(hipErrorInvalidValue);
    *result = update(*exec->graph, *graph, error_node);
    return remember(*result == hipGraphExecUpdateSuccess ? hipSuccess : hipErrorGraphExecUpdateFailure);
}
hipError_t hipGraphNodeSetEnabled(hipGraphExec_t exec, hipGraphNode_t node, unsigned is_enabled) {
    std::lock_guard<std::recursive_mutex> lock(mutex());
    hipGraphNode_t copied = switchable_copy(exec, node);
    if (!copied) return remember(hipErrorInvalidValue);
    copied->is_enabled = is_enabled != 0;
    return hipSuccess;
}
hipError_t hipGraphNodeGetEnabled(hipGraphExec_t exec, hipGraphNode_t node, unsigned* is_enabled) {
    std::lock_guard<std::recursive_mutex> lock(mutex());
    const hipGraphNode* copied = switchable_copy(exec, node);
    if (!copied || !is_enabled) return remember(hipErrorInvalidValue);
    *is_enabled = copied->is_enabled;
    return hipSuccess;
}
}
