#include "capture.h"

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include "../calls/errors.h"
#include "wavepool/host/api.h"

namespace wavepool::graphs {
namespace {
using Lock = std::lock_guard<std::recursive_mutex>;
using Nodes = std::vector<hipGraphNode_t>;

struct Capture {
    unsigned long long id;
    hipStream_t origin;
    hipStreamCaptureMode mode;
    std::thread::id thread;
    std::unique_ptr<ihipGraph> made;  // null where people gave the graph
    hipGraph_t graph;
    size_t first_node;  // of the graph's nodes, the first that this capture added
    bool is_valid = true;
    std::map<hipStream_t, Nodes> last;  // what the next node of each stream comes after
};
struct CapturedEvent {
    Capture* capture;
    Nodes after;
};
struct State {
    std::vector<std::unique_ptr<Capture>> captures;
    std::map<hipEvent_t, CapturedEvent> events;
    std::set<hipStream_t> apart;  // streams that do not wait for the default stream
    unsigned long long last_id = 0;
};

State& state() {
    static auto& instance = *new State;
    return instance;
}
std::atomic<bool> is_any{false};  // so that calls outside of captures take no lock
thread_local hipStreamCaptureMode mode_of_thread = hipStreamCaptureModeGlobal;

Capture* capture_of(hipStream_t stream) {
    for (const auto& capture : state().captures)
        if (capture->last.count(stream)) return capture.get();
    return nullptr;
}

bool waits_for_default(const Capture& capture) {
    return std::any_of(capture.last.begin(), capture.last.end(),
                       [](const auto& one) { return state().apart.count(one.first) == 0; });
}

hipError_t invalidate(Capture& capture, hipError_t error) {
    capture.is_valid = false;
    explain("a stream is being captured, and this call cannot be: make it before hipStreamBeginCapture or after "
            "hipStreamEndCapture");
    return error;
}

// Of the default stream, while a stream that waits for it is captured.
hipError_t implicit() {
    for (const auto& capture : state().captures)
        if (waits_for_default(*capture)) (void)invalidate(*capture, hipErrorStreamCaptureImplicit);
    explain("the default stream waits for all others, and one is being captured: use the captured stream, or create it "
            "with hipStreamNonBlocking");
    return hipErrorStreamCaptureImplicit;
}

// The graph that a captured call goes to, or why it cannot.
hipError_t opened(hipStream_t stream, Capture** found) {
    if (!stream) return implicit();
    Capture* capture = capture_of(stream);
    if (!capture->is_valid) {
        explain("an earlier call that cannot be captured has ended this capture");
        return hipErrorStreamCaptureInvalidated;
    }
    *found = capture;
    return hipSuccess;
}

void end(Capture* capture) {
    State& all = state();
    for (auto event = all.events.begin(); event != all.events.end();)
        event = event->second.capture == capture ? all.events.erase(event) : std::next(event);
    auto& captures = all.captures;
    captures.erase(std::find_if(captures.begin(), captures.end(), [&](auto& one) { return one.get() == capture; }));
    is_any = !captures.empty();
}

// Every node is one that the origin's next would come after, directly or by others.
bool is_joined(const Capture& capture) {
    std::set<const hipGraphNode*> followed(capture.last.at(capture.origin).begin(), capture.last.at(capture.origin).end());
    for (const auto& node : capture.graph->nodes) followed.insert(node->before.begin(), node->before.end());
    const auto& nodes = capture.graph->nodes;
    return std::all_of(nodes.begin() + long(std::min(capture.first_node, nodes.size())), nodes.end(),
                       [&](const auto& node) { return followed.count(node.get()) > 0; });
}

void merge(Nodes& into, const Nodes& more) {
    for (hipGraphNode_t node : more)
        if (std::find(into.begin(), into.end(), node) == into.end()) into.push_back(node);
}

hipError_t begin(hipStream_t stream, hipGraph_t graph, const Nodes& before, hipStreamCaptureMode mode) {
    if (!stream) {
        explain("the default stream cannot be captured; make one with hipStreamCreate");
        return hipErrorStreamCaptureUnsupported;
    }
    if (mode < hipStreamCaptureModeGlobal || mode > hipStreamCaptureModeRelaxed) return hipErrorInvalidValue;
    if (capture_of(stream)) {
        explain("the stream is being captured already");
        return hipErrorIllegalState;
    }
    auto capture = std::make_unique<Capture>();
    if (!graph) capture->made = std::make_unique<ihipGraph>();
    capture->id = ++state().last_id;
    capture->origin = stream;
    capture->mode = mode;
    capture->thread = std::this_thread::get_id();
    capture->graph = graph ? graph : capture->made.get();
    capture->first_node = capture->graph->nodes.size();
    capture->last[stream] = before;
    state().captures.push_back(std::move(capture));
    is_any = true;
    return hipSuccess;
}
}  // namespace

bool is_captured(hipStream_t stream) {
    if (!is_any) return false;
    Lock lock(mutex());
    if (stream) return capture_of(stream) != nullptr;
    const auto& captures = state().captures;
    return std::any_of(captures.begin(), captures.end(), [](const auto& one) { return waits_for_default(*one); });
}

hipError_t take(hipStream_t stream, Operation operation) {
    Lock lock(mutex());
    Capture* capture;
    if (hipError_t error = opened(stream, &capture)) return error;
    hipGraphNode_t node;
    const hipError_t error = add_node(*capture->graph, capture->last[stream], std::move(operation), &node);
    if (error == hipSuccess) capture->last[stream] = {node};
    return error;
}

hipError_t take_event(hipStream_t stream, hipEvent_t event) {
    Lock lock(mutex());
    Capture* capture;
    if (hipError_t error = opened(stream, &capture)) return error;
    state().events[event] = {capture, capture->last[stream]};
    return hipSuccess;
}

hipError_t take_wait(hipStream_t stream, hipEvent_t event) {
    Lock lock(mutex());
    Capture* const own = stream ? capture_of(stream) : nullptr;
    const auto found = state().events.find(event);
    if (!stream) return implicit();
    if (own && !own->is_valid) return hipErrorStreamCaptureInvalidated;
    if (found == state().events.end()) {
        explain("the captured stream would wait for what is outside its capture; record the event in a stream that is "
                "captured with it");
        return own->is_valid = false, hipErrorStreamCaptureIsolation;
    }
    Capture& capture = *found->second.capture;
    if (own && own != &capture) {
        explain("the event belongs to another capture; two captures cannot become one");
        return own->is_valid = capture.is_valid = false, hipErrorStreamCaptureMerge;
    }
    if (!capture.is_valid) return hipErrorStreamCaptureInvalidated;
    merge(capture.last[stream], found->second.after);
    return hipSuccess;
}

bool is_captured(hipEvent_t event) {
    if (!is_any) return false;
    Lock lock(mutex());
    return state().events.count(event) > 0;
}

void forget(hipEvent_t event) {
    if (!is_any) return;
    Lock lock(mutex());
    state().events.erase(event);
}

hipError_t offence(hipError_t error, bool by_mode) {
    if (!is_any) return hipSuccess;
    Lock lock(mutex());
    hipError_t found = hipSuccess;
    for (const auto& capture : state().captures) {
        const bool is_own = capture->thread == std::this_thread::get_id() && capture->mode != hipStreamCaptureModeRelaxed;
        const bool is_everybodys = mode_of_thread == hipStreamCaptureModeGlobal && capture->mode == hipStreamCaptureModeGlobal;
        const bool is_concerned = mode_of_thread != hipStreamCaptureModeRelaxed && (is_own || is_everybodys);
        if (!by_mode || is_concerned) found = invalidate(*capture, error);
    }
    return found;
}

hipError_t offence(hipStream_t stream, hipError_t error) {
    if (!is_any) return hipSuccess;
    Lock lock(mutex());
    if (!stream && is_captured(stream)) return implicit();
    Capture* capture = capture_of(stream);
    return capture ? invalidate(*capture, error) : offence(error, true);
}

hipError_t offence(hipEvent_t event) {
    if (!is_captured(event)) return hipSuccess;
    Lock lock(mutex());
    return invalidate(*state().events.at(event).capture, hipErrorCapturedEvent);
}

void note_stream(hipStream_t stream, unsigned flags) {
    Lock lock(mutex());
    if (flags & hipStreamNonBlocking) state().apart.insert(stream);
    else state().apart.erase(stream);
}

void forget(hipStream_t stream) {
    Lock lock(mutex());
    state().apart.erase(stream);
    Capture* capture = capture_of(stream);
    if (capture && capture->origin == stream) end(capture);
    else if (capture) capture->last.erase(stream);
}
}  // namespace wavepool::graphs

using namespace wavepool;
using namespace wavepool::graphs;

extern "C" {
hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode) {
    Lock lock(mutex());
    return remember(begin(stream, nullptr, {}, mode));
}
hipError_t hipStreamBeginCaptureToGraph(hipStream_t stream, hipGraph_t graph, const hipGraphNode_t* before,
                                        const hipGraphEdgeData* edges, size_t count, hipStreamCaptureMode mode) {
    Lock lock(mutex());
    if (!is_live(graph) || edges || (count && !before)) return remember(hipErrorInvalidValue);
    const Nodes nodes(before, before + count);
    for (hipGraphNode_t node : nodes)
        if (!is_live(node) || node->graph != graph) return remember(hipErrorInvalidValue);
    return remember(begin(stream, graph, nodes, mode));
}
hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t* graph) {
    Lock lock(mutex());
    if (!graph) return remember(hipErrorInvalidValue);
    *graph = nullptr;
    Capture* capture = capture_of(stream);
    if (!capture) {
        explain("the stream is not being captured; call hipStreamBeginCapture first");
        return remember(hipErrorIllegalState);
    }
    if (capture->origin != stream) {
        explain("the capture began on another stream; end it there");
        return remember(hipErrorStreamCaptureUnmatched);
    }
    if (capture->mode != hipStreamCaptureModeRelaxed && capture->thread != std::this_thread::get_id())
        return remember(hipErrorStreamCaptureWrongThread);
    hipError_t error = hipSuccess;
    if (!capture->is_valid) {
        explain("a call that cannot be captured was made on the way; each call's own error says which");
        error = hipErrorStreamCaptureInvalidated;
    } else if (!is_joined(*capture)) {
        explain("another stream that was captured with this one has work that this one does not wait for: record an "
                "event there, and let this stream wait for it before hipStreamEndCapture");
        error = hipErrorStreamCaptureUnjoined;
    } else *graph = capture->made ? capture->made.release() : capture->graph;
    end(capture);
    return remember(error);
}
hipError_t hipStreamGetCaptureInfo_v2(hipStream_t stream, hipStreamCaptureStatus* status, unsigned long long* id,
                                      hipGraph_t* graph, const hipGraphNode_t** before, size_t* count) {
    Lock lock(mutex());
    if (!status) return remember(hipErrorInvalidValue);
    // A question does no harm to the capture.
    if (!stream && is_captured(stream)) return remember(hipErrorStreamCaptureImplicit);
    Capture* capture = stream ? capture_of(stream) : nullptr;
    *status = !capture            ? hipStreamCaptureStatusNone
              : capture->is_valid ? hipStreamCaptureStatusActive
                                  : hipStreamCaptureStatusInvalidated;
    if (*status != hipStreamCaptureStatusActive) return hipSuccess;
    if (id) *id = capture->id;
    if (graph) *graph = capture->graph;
    if (before) *before = capture->last[stream].data();
    if (count) *count = capture->last[stream].size();
    return hipSuccess;
}
hipError_t hipStreamGetCaptureInfo(hipStream_t stream, hipStreamCaptureStatus* status, unsigned long long* id) {
    return hipStreamGetCaptureInfo_v2(stream, status, id, nullptr, nullptr, nullptr);
}
hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus* status) {
    return hipStreamGetCaptureInfo_v2(stream, status, nullptr, nullptr, nullptr, nullptr);
}
hipError_t hipStreamUpdateCaptureDependencies(hipStream_t stream, hipGraphNode_t* before, size_t count,
                                              unsigned flags) {
    Lock lock(mutex());
    Capture* capture = stream ? capture_of(stream) : nullptr;
    if (!capture) return remember(hipErrorIllegalState);
    if (!capture->is_valid) return remember(hipErrorStreamCaptureInvalidated);
    if (flags > hipStreamSetCaptureDependencies || (count && !before)) return remember(hipErrorInvalidValue);
    const Nodes nodes(before, before + count);
    for (hipGraphNode_t node : nodes)
        if (!is_live(node) || node->graph != capture->graph) return remember(hipErrorInvalidValue);
    if (flags == hipStreamSetCaptureDependencies) capture->last[stream].clear();
    merge(capture->last[stream], nodes);
    return hipSuccess;
}
hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode* mode) {
    if (!mode || *mode < hipStreamCaptureModeGlobal || *mode > hipStreamCaptureModeRelaxed)
        return remember(hipErrorInvalidValue);
    std::swap(*mode, mode_of_thread);
    return hipSuccess;
}
}
