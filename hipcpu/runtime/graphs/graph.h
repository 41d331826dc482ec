// A graph: operations, and which of them have to come before which.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <variant>
#include <vector>

#include "../kernels/kernel_table.h"
#include "wavepool/host/graphs.h"

namespace wavepool::graphs {

// What people hold a pointer to: only live ones are followed.
struct Handle {
    Handle();
    ~Handle();
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
};
bool is_live(const Handle* handle);
// Held by all calls about graphs and captures, but not while nodes run.
std::recursive_mutex& mutex();

// Copies of a launch's arguments, aligned for any of them.
struct alignas(64) ArgumentPart {
    char bytes[64];
};
struct Arguments {
    std::vector<std::vector<ArgumentPart>> values;
    std::vector<void*> addresses;
};
struct Kernel {
    const KernelEntry* entry;
    void* function;  // as the caller named it
    dim3 grid, block;
    unsigned shared_bytes;
    bool is_cooperative;
    std::shared_ptr<Arguments> arguments;
    std::map<int, hipKernelNodeAttrValue> attributes;
};
struct FromSymbol {
    void* target;
    const void* symbol;
    size_t bytes, offset;
    hipMemcpyKind kind;
};
struct ToSymbol {
    const void* symbol;
    const void* source;
    size_t bytes, offset;
    hipMemcpyKind kind;
};
struct Child {
    std::shared_ptr<ihipGraph> graph;
};
struct Empty {};
struct EventRecord {
    hipEvent_t event;
};
struct EventWait {
    hipEvent_t event;
};
using Operation = std::variant<Kernel, hipMemcpy3DParms, hipMemsetParams, hipHostNodeParams, Child, Empty, EventWait,
                               EventRecord, FromSymbol, ToSymbol>;

// A copy of rows, or of bytes if there is one row.
hipMemcpy3DParms copy_of(void* target, size_t target_pitch, const void* source, size_t source_pitch, size_t width,
                         size_t height, hipMemcpyKind kind);
// hipSuccess and the launch with copies of its arguments, or why it is none.
hipError_t make_kernel(const KernelEntry* entry, void* function, dim3 grid, dim3 block, void** arguments,
                       unsigned shared_bytes, Kernel* made);
// Why the operation can be no node's; hipSuccess if it can.
hipError_t fault_of(const Operation& operation);
// Performs an operation on a stream that is not captured.
hipError_t perform(const Operation& operation, hipStream_t stream);

std::shared_ptr<ihipGraph> clone(const ihipGraph& graph);
// Each node after those that it depends on, and otherwise in the order of their making; empty where there is a cycle.
std::vector<hipGraphNode_t> in_order(const ihipGraph& graph);
hipError_t add_node(ihipGraph& graph, const std::vector<hipGraphNode_t>& before, Operation operation,
                    hipGraphNode_t* added);

}  // namespace wavepool::graphs

struct hipGraphNode : wavepool::graphs::Handle {
    ihipGraph* graph;
    wavepool::graphs::Operation operation;
    std::vector<hipGraphNode_t> before;
    const hipGraphNode* origin = nullptr;  // what it is a copy of
    bool is_enabled = true;
};

struct ihipGraph : wavepool::graphs::Handle {
    ihipGraph() = default;
    ~ihipGraph();
    std::vector<std::unique_ptr<hipGraphNode>> nodes;
    std::map<hipUserObject_t, unsigned> objects;  // how often it holds each
    bool is_embedded = false;                     // a node's, so that people cannot destroy it
};

struct hipGraphExec : wavepool::graphs::Handle {
    std::shared_ptr<ihipGraph> graph;
    unsigned long long flags = 0;
};
