#include "graph.h"

#include <algorithm>
#include <cstring>
#include <unordered_set>

#include "../calls/errors.h"
#include "../calls/launch.h"
#include "wavepool/host/api.h"

namespace wavepool::graphs {
namespace {
// Never destroyed, as destructors may use graphs.
std::unordered_set<const Handle*>& live() {
    static auto& set = *new std::unordered_set<const Handle*>;
    return set;
}

template <class... F> struct Overloaded : F... {
    using F::operator()...;
};
template <class... F> Overloaded(F...) -> Overloaded<F...>;

char* at(const hipPitchedPtr& memory, const hipPos& place, size_t slice) {
    return static_cast<char*>(memory.ptr) + (place.z + slice) * memory.pitch * memory.ysize + place.y * memory.pitch +
           place.x;
}

hipError_t copy(const hipMemcpy3DParms& shape, hipStream_t stream) {
    const auto [width, height, depth] = shape.extent;
    for (size_t slice = 0; slice < depth; ++slice) {
        char* target = at(shape.dstPtr, shape.dstPos, slice);
        const char* source = at(shape.srcPtr, shape.srcPos, slice);
        const hipError_t error = height == 1 ? hipMemcpyAsync(target, source, width, shape.kind, stream)
                                             : hipMemcpy2DAsync(target, shape.dstPtr.pitch, source, shape.srcPtr.pitch,
                                                                width, height, shape.kind, stream);
        if (error != hipSuccess) return error;
    }
    return hipSuccess;
}

hipError_t fill(const hipMemsetParams& shape, hipStream_t stream) {
    for (size_t row = 0; row < shape.height; ++row) {
        char* target = static_cast<char*>(shape.dst) + row * shape.pitch;
        const hipError_t error =
            shape.elementSize == 1   ? hipMemsetD8Async(target, uint8_t(shape.value), shape.width, stream)
            : shape.elementSize == 2 ? hipMemsetD16Async(target, uint16_t(shape.value), shape.width, stream)
                                     : hipMemsetD32Async(target, int(shape.value), shape.width, stream);
        if (error != hipSuccess) return error;
    }
    return hipSuccess;
}

hipError_t run(const ihipGraph& graph, hipStream_t stream) {
    for (hipGraphNode_t node : in_order(graph))
        if (node->is_enabled)
            if (hipError_t error = perform(node->operation, stream)) return error;
    return hipSuccess;
}
}  // namespace

std::recursive_mutex& mutex() {
    static auto& instance = *new std::recursive_mutex;
    return instance;
}

Handle::Handle() {
    std::lock_guard<std::recursive_mutex> lock(mutex());
    live().insert(this);
}
Handle::~Handle() {
    std::lock_guard<std::recursive_mutex> lock(mutex());
    live().erase(this);
}
bool is_live(const Handle* handle) { return live().count(handle) > 0; }

hipMemcpy3DParms copy_of(void* target, size_t target_pitch, const void* source, size_t source_pitch, size_t width,
                         size_t height, hipMemcpyKind kind) {
    hipMemcpy3DParms shape{};
    shape.dstPtr = {target, target_pitch, width, height};
    shape.srcPtr = {const_cast<void*>(source), source_pitch, width, height};
    shape.extent = {width, height, 1};
    shape.kind = kind;
    return shape;
}

hipError_t make_kernel(const KernelEntry* entry, void* function, dim3 grid, dim3 block, void** arguments,
                       unsigned shared_bytes, Kernel* made) {
    if (!entry) return hipErrorInvalidDeviceFunction;
    if (hipError_t error = launch_fault(*entry, grid, block, shared_bytes)) return error;
    if (!entry->arguments) {
        explain("the arguments of this kernel cannot be copied into a graph; launch it directly");
        return hipErrorNotSupported;
    }
    if (!arguments && entry->argument_count > 0) return hipErrorInvalidValue;
    auto copied = std::make_shared<Arguments>();
    for (uint64_t number = 0; number < entry->argument_count; ++number) {
        const size_t bytes = entry->arguments[number].bytes;
        auto& value = copied->values.emplace_back(bytes / sizeof(ArgumentPart) + 1);
        std::memcpy(value.data(), arguments[number], bytes);
        copied->addresses.push_back(value.data());
    }
    *made = {entry, function, grid, block, shared_bytes, false, std::move(copied), {}};
    return hipSuccess;
}

hipError_t fault_of(const Operation& operation) {
    if (const auto* shape = std::get_if<hipMemcpy3DParms>(&operation)) {
        if (shape->srcArray || shape->dstArray) {
            explain("arrays are for textures, which are not on the cpu device; copy between pointers");
            return hipErrorNotSupported;
        }
        const auto [width, height, depth] = shape->extent;
        const bool has_rows = height > 1 || depth > 1;
        const bool fits = !has_rows || (width <= shape->srcPtr.pitch && width <= shape->dstPtr.pitch);
        return shape->srcPtr.ptr && shape->dstPtr.ptr && width && height && depth && fits ? hipSuccess
                                                                                         : hipErrorInvalidValue;
    }
    if (const auto* shape = std::get_if<hipMemsetParams>(&operation)) {
        const unsigned element = shape->elementSize;
        const bool fits = shape->height == 1 || shape->width * element <= shape->pitch;
        const bool is_element = element == 1 || element == 2 || element == 4;
        return shape->dst && shape->width && shape->height && is_element && fits ? hipSuccess : hipErrorInvalidValue;
    }
    if (const auto* host = std::get_if<hipHostNodeParams>(&operation)) return host->fn ? hipSuccess : hipErrorInvalidValue;
    if (const auto* wait = std::get_if<EventWait>(&operation)) return wait->event ? hipSuccess : hipErrorInvalidValue;
    if (const auto* note = std::get_if<EventRecord>(&operation)) return note->event ? hipSuccess : hipErrorInvalidValue;
    return hipSuccess;
}

hipError_t perform(const Operation& operation, hipStream_t stream) {
    return std::visit(
        Overloaded{
            [&](const Kernel& kernel) {
                const auto launch = kernel.is_cooperative ? launch_cooperatively : launch_kernel;
                return launch(*kernel.entry, kernel.grid, kernel.block, kernel.arguments->addresses.data(),
                              {kernel.shared_bytes, stream});
            },
            [&](const hipMemcpy3DParms& shape) { return copy(shape, stream); },
            [&](const hipMemsetParams& shape) { return fill(shape, stream); },
            [&](const hipHostNodeParams& host) { return hipLaunchHostFunc(stream, host.fn, host.userData); },
            [&](const Child& child) { return run(*child.graph, stream); },
            [&](const Empty&) { return hipSuccess; },
            [&](const EventWait& wait) { return hipStreamWaitEvent(stream, wait.event, 0); },
            [&](const EventRecord& note) { return hipEventRecord(note.event, stream); },
            [&](const FromSymbol& from) {
                return hipMemcpyFromSymbolAsync(from.target, from.symbol, from.bytes, from.offset, from.kind, stream);
            },
            [&](const ToSymbol& to) {
                return hipMemcpyToSymbolAsync(to.symbol, to.source, to.bytes, to.offset, to.kind, stream);
            }},
        operation);
}

std::shared_ptr<ihipGraph> clone(const ihipGraph& graph) {
    auto made = std::make_shared<ihipGraph>();
    std::map<const hipGraphNode*, hipGraphNode_t> copies;
    for (const auto& node : graph.nodes) {
        auto copied = std::make_unique<hipGraphNode>();
        copied->graph = made.get();
        copied->operation = node->operation;
        copied->origin = node.get();
        copied->is_enabled = node->is_enabled;
        if (auto* child = std::get_if<Child>(&copied->operation)) {
            child->graph = clone(*child->graph);
            child->graph->is_embedded = true;
        }
        copies[node.get()] = copied.get();
        made->nodes.push_back(std::move(copied));
    }
    // Dependencies may be on nodes that were made later.
    for (const auto& node : graph.nodes)
        for (hipGraphNode_t earlier : node->before) copies[node.get()]->before.push_back(copies[earlier]);
    for (const auto& [object, count] : graph.objects)
        if (hipUserObjectRetain(object, count) == hipSuccess) made->objects[object] = count;
    return made;
}

std::vector<hipGraphNode_t> in_order(const ihipGraph& graph) {
    std::vector<hipGraphNode_t> order;
    std::unordered_set<const hipGraphNode*> done;
    for (size_t before = 0; order.size() < graph.nodes.size(); before = order.size()) {
        for (const auto& node : graph.nodes) {
            const auto& needed = node->before;
            if (done.count(node.get()) ||
                !std::all_of(needed.begin(), needed.end(), [&](auto* one) { return done.count(one) > 0; }))
                continue;
            order.push_back(node.get());
            done.insert(node.get());
        }
        if (order.size() == before) return {};
    }
    return order;
}

hipError_t add_node(ihipGraph& graph, const std::vector<hipGraphNode_t>& before, Operation operation,
                    hipGraphNode_t* added) {
    for (size_t number = 0; number < before.size(); ++number) {
        hipGraphNode_t node = before[number];
        const bool is_again = std::count(before.begin(), before.begin() + long(number), node) > 0;
        if (!is_live(node) || node->graph != &graph || is_again) return hipErrorInvalidValue;
    }
    if (hipError_t error = fault_of(operation)) return error;
    auto node = std::make_unique<hipGraphNode>();
    node->graph = &graph;
    node->operation = std::move(operation);
    node->before = before;
    *added = node.get();
    graph.nodes.push_back(std::move(node));
    return hipSuccess;
}
}  // namespace wavepool::graphs

ihipGraph::~ihipGraph() {
    for (const auto& [object, count] : objects) (void)hipUserObjectRelease(object, count);
}
