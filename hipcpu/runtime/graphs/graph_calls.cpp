// Graphs as wholes: made, copied, destroyed, asked for their nodes and dependencies, drawn, and owners of objects.
#include <algorithm>
#include <cstdio>
#include <string>

#include "../calls/errors.h"
#include "../calls/kernel_name.h"
#include "exec.h"
#include "graph.h"

using namespace wavepool;
using namespace wavepool::graphs;

struct hipUserObject : Handle {
    void* data;
    hipHostFn_t destroy;
    unsigned count;
};

namespace {
using Lock = std::lock_guard<std::recursive_mutex>;
using Edges = std::vector<std::pair<hipGraphNode_t, hipGraphNode_t>>;

// Fills an array of `*count` places, of which those left over become null, or says how many places there have to be.
hipError_t give(const std::vector<hipGraphNode_t>& found, hipGraphNode_t* places, size_t* count, const char* name) {
    if (!count) return remember(hipErrorInvalidValue, name);
    for (size_t at = 0; places && at < *count; ++at) places[at] = at < found.size() ? found[at] : nullptr;
    *count = places ? std::min(*count, found.size()) : found.size();
    return hipSuccess;
}

template <class Choose> std::vector<hipGraphNode_t> nodes_that(const ihipGraph& graph, Choose choose) {
    std::vector<hipGraphNode_t> found;
    for (const auto& node : graph.nodes)
        if (choose(*node)) found.push_back(node.get());
    return found;
}

bool depends(const hipGraphNode& node, const hipGraphNode* on) {
    return std::count(node.before.begin(), node.before.end(), on) > 0;
}

Edges edges_of(const ihipGraph& graph) {
    Edges found;
    for (const auto& node : graph.nodes)
        for (hipGraphNode_t before : node->before) found.emplace_back(before, node.get());
    return found;
}

// Whether all pairs are of the graph, and all or none of them dependencies.
bool are_pairs(hipGraph_t graph, const hipGraphNode_t* from, const hipGraphNode_t* to, size_t count, bool are_edges) {
    if (!is_live(graph) || (count && (!from || !to))) return false;
    for (size_t at = 0; at < count; ++at) {
        const bool is_of_graph = is_live(from[at]) && is_live(to[at]) && from[at]->graph == graph && to[at]->graph == graph;
        if (!is_of_graph || from[at] == to[at] || depends(*to[at], from[at]) != are_edges) return false;
    }
    return true;
}

hipGraphNodeType type_of(const hipGraphNode& node) {
    // In the order of Operation.
    constexpr hipGraphNodeType kTypes[] = {
        hipGraphNodeTypeKernel,      hipGraphNodeTypeMemcpy,           hipGraphNodeTypeMemset, hipGraphNodeTypeHost,
        hipGraphNodeTypeGraph,       hipGraphNodeTypeEmpty,            hipGraphNodeTypeWaitEvent,
        hipGraphNodeTypeEventRecord, hipGraphNodeTypeMemcpyFromSymbol, hipGraphNodeTypeMemcpyToSymbol};
    static_assert(std::size(kTypes) == std::variant_size_v<Operation>);
    return kTypes[node.operation.index()];
}

std::string label_of(const hipGraphNode& node) {
    constexpr const char* kNames[] = {"kernel", "memcpy", "memset", "host", "child graph", "empty", "event wait",
                                      "event record", "memcpy from symbol", "memcpy to symbol"};
    static_assert(std::size(kNames) == std::variant_size_v<Operation>);
    const auto* kernel = std::get_if<Kernel>(&node.operation);
    return kNames[node.operation.index()] + (kernel ? std::string("\\n") + name_in_source(*kernel->entry) : "");
}

void draw(FILE* file, const ihipGraph& graph) {
    for (const auto& node : graph.nodes) {
        std::fprintf(file, "  \"%p\" [label=\"%s\"];\n", static_cast<void*>(node.get()), label_of(*node).c_str());
        if (const auto* child = std::get_if<Child>(&node->operation)) {
            std::fprintf(file, "  subgraph \"cluster_%p\" {\n", static_cast<void*>(node.get()));
            draw(file, *child->graph);
            std::fprintf(file, "  }\n");
        }
    }
    for (const auto& [from, to] : edges_of(graph))
        std::fprintf(file, "  \"%p\" -> \"%p\";\n", static_cast<void*>(from), static_cast<void*>(to));
}
}  // namespace

extern "C" {
hipError_t hipGraphCreate(hipGraph_t* graph, unsigned flags) {
    if (!graph || flags) return remember(hipErrorInvalidValue);
    *graph = new ihipGraph;
    return hipSuccess;
}
hipError_t hipGraphDestroy(hipGraph_t graph) {
    Lock lock(mutex());
    if (!is_live(graph) || graph->is_embedded) return remember(hipErrorInvalidValue);
    delete graph;
    return hipSuccess;
}
hipError_t hipGraphClone(hipGraph_t* copied, hipGraph_t graph) {
    Lock lock(mutex());
    if (!copied || !is_live(graph)) return remember(hipErrorInvalidValue);
    // People own it, and not a pointer of ours.
    const std::shared_ptr<ihipGraph> made = clone(*graph);
    *copied = new ihipGraph;
    std::swap((*copied)->nodes, made->nodes);
    std::swap((*copied)->objects, made->objects);
    for (const auto& node : (*copied)->nodes) node->graph = *copied;
    return hipSuccess;
}
hipError_t hipGraphGetNodes(hipGraph_t graph, hipGraphNode_t* nodes, size_t* count) {
    Lock lock(mutex());
    if (!is_live(graph)) return remember(hipErrorInvalidValue);
    return give(nodes_that(*graph, [](auto&) { return true; }), nodes, count, "hipGraphGetNodes");
}
hipError_t hipGraphGetRootNodes(hipGraph_t graph, hipGraphNode_t* nodes, size_t* count) {
    Lock lock(mutex());
    if (!is_live(graph)) return remember(hipErrorInvalidValue);
    return give(nodes_that(*graph, [](auto& node) { return node.before.empty(); }), nodes, count, "hipGraphGetRootNodes");
}
hipError_t hipGraphGetEdges(hipGraph_t graph, hipGraphNode_t* from, hipGraphNode_t* to, size_t* count) {
    Lock lock(mutex());
    if (!is_live(graph) || !count || !from != !to) return remember(hipErrorInvalidValue);
    std::vector<hipGraphNode_t> begins, ends;
    for (const auto& [begin, end] : edges_of(*graph)) begins.push_back(begin), ends.push_back(end);
    size_t same = *count;
    (void)give(begins, from, &same, "hipGraphGetEdges");
    return give(ends, to, count, "hipGraphGetEdges");
}
hipError_t hipGraphAddDependencies(hipGraph_t graph, const hipGraphNode_t* from, const hipGraphNode_t* to,
                                   size_t count) {
    Lock lock(mutex());
    if (!are_pairs(graph, from, to, count, false)) return remember(hipErrorInvalidValue);
    for (size_t at = 0; at < count; ++at)
        if (!depends(*to[at], from[at])) to[at]->before.push_back(from[at]);
    return hipSuccess;
}
hipError_t hipGraphRemoveDependencies(hipGraph_t graph, const hipGraphNode_t* from, const hipGraphNode_t* to,
                                      size_t count) {
    Lock lock(mutex());
    if (!are_pairs(graph, from, to, count, true)) return remember(hipErrorInvalidValue);
    for (size_t at = 0; at < count; ++at) {
        auto& before = to[at]->before;
        before.erase(std::remove(before.begin(), before.end(), from[at]), before.end());
    }
    return hipSuccess;
}
hipError_t hipGraphDebugDotPrint(hipGraph_t graph, const char* path, unsigned) {
    Lock lock(mutex());
    FILE* file = is_live(graph) && path ? std::fopen(path, "we") : nullptr;
    if (!file) return remember(hipErrorInvalidValue);
    std::fprintf(file, "digraph {\n");
    draw(file, *graph);
    std::fprintf(file, "}\n");
    return remember(std::fclose(file) == 0 ? hipSuccess : hipErrorInvalidValue);
}

hipError_t hipGraphNodeGetType(hipGraphNode_t node, hipGraphNodeType* type) {
    Lock lock(mutex());
    if (!is_live(node) || !type) return remember(hipErrorInvalidValue);
    *type = type_of(*node);
    return hipSuccess;
}
hipError_t hipGraphNodeGetDependencies(hipGraphNode_t node, hipGraphNode_t* nodes, size_t* count) {
    Lock lock(mutex());
    return is_live(node) ? give(node->before, nodes, count, "hipGraphNodeGetDependencies")
                         : remember(hipErrorInvalidValue);
}
hipError_t hipGraphNodeGetDependentNodes(hipGraphNode_t node, hipGraphNode_t* nodes, size_t* count) {
    Lock lock(mutex());
    if (!is_live(node)) return remember(hipErrorInvalidValue);
    return give(nodes_that(*node->graph, [&](auto& one) { return depends(one, node); }), nodes, count,
                "hipGraphNodeGetDependentNodes");
}
hipError_t hipGraphNodeFindInClone(hipGraphNode_t* found, hipGraphNode_t node, hipGraph_t copied) {
    Lock lock(mutex());
    hipGraphNode_t copy = is_live(copied) && is_live(node) ? copy_in(*copied, node) : nullptr;
    if (!found || !copy) return remember(hipErrorInvalidValue);
    *found = copy;
    return hipSuccess;
}
hipError_t hipGraphDestroyNode(hipGraphNode_t node) {
    Lock lock(mutex());
    if (!is_live(node)) return remember(hipErrorInvalidValue);
    auto& nodes = node->graph->nodes;
    for (const auto& other : nodes) {
        auto& before = other->before;
        before.erase(std::remove(before.begin(), before.end(), node), before.end());
    }
    nodes.erase(std::find_if(nodes.begin(), nodes.end(), [&](auto& one) { return one.get() == node; }));
    return hipSuccess;
}

hipError_t hipUserObjectCreate(hipUserObject_t* object, void* data, hipHostFn_t destroy, unsigned count,
                               unsigned flags) {
    if (!object || !destroy || !count || flags != hipUserObjectNoDestructorSync) return remember(hipErrorInvalidValue);
    *object = new hipUserObject{{}, data, destroy, count};
    return hipSuccess;
}
hipError_t hipUserObjectRetain(hipUserObject_t object, unsigned count) {
    Lock lock(mutex());
    if (!is_live(object) || !count) return remember(hipErrorInvalidValue);
    object->count += count;
    return hipSuccess;
}
hipError_t hipUserObjectRelease(hipUserObject_t object, unsigned count) {
    Lock lock(mutex());
    if (!is_live(object) || !count || count > object->count) return remember(hipErrorInvalidValue);
    if ((object->count -= count) > 0) return hipSuccess;
    object->destroy(object->data);
    delete object;
    return hipSuccess;
}
hipError_t hipGraphRetainUserObject(hipGraph_t graph, hipUserObject_t object, unsigned count, unsigned flags) {
    Lock lock(mutex());
    if (!is_live(graph) || !is_live(object) || !count || flags & ~unsigned(hipGraphUserObjectMove))
        return remember(hipErrorInvalidValue);
    // Moved references are the caller's own.
    if (!(flags & hipGraphUserObjectMove)) object->count += count;
    graph->objects[object] += count;
    return hipSuccess;
}
hipError_t hipGraphReleaseUserObject(hipGraph_t graph, hipUserObject_t object, unsigned count) {
    Lock lock(mutex());
    const auto held = is_live(graph) ? graph->objects.find(object) : std::map<hipUserObject_t, unsigned>::iterator{};
    if (!is_live(graph) || held == graph->objects.end() || !count || count > held->second)
        return remember(hipErrorInvalidValue);
    if ((held->second -= count) == 0) graph->objects.erase(held);
    return hipUserObjectRelease(object, count);
}
}
