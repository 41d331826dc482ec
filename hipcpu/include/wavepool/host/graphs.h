// Graphs and stream capture. A launched graph runs its nodes one after the other, each after those that it depends on.
// Left out: nodes that allocate or free, external semaphores, and batches of memory operations.
#pragma once

#include "wavepool/host/graph_types.h"

#define WP_API __host__ hipError_t
// Where a node goes: `before` are the nodes that it depends on.
#define WP_NEW hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *before, size_t count

extern "C" {
WP_API hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode);
WP_API hipStreamBeginCaptureToGraph(hipStream_t stream, hipGraph_t graph, const hipGraphNode_t* before,
                                    const hipGraphEdgeData* edges, size_t count, hipStreamCaptureMode mode);
WP_API hipStreamEndCapture(hipStream_t stream, hipGraph_t* graph);
WP_API hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus* status);
WP_API hipStreamGetCaptureInfo(hipStream_t stream, hipStreamCaptureStatus* status, unsigned long long* id);
WP_API hipStreamGetCaptureInfo_v2(hipStream_t stream, hipStreamCaptureStatus* status, unsigned long long* id = nullptr,
                                  hipGraph_t* graph = nullptr, const hipGraphNode_t** before = nullptr,
                                  size_t* count = nullptr);
WP_API hipStreamUpdateCaptureDependencies(hipStream_t stream, hipGraphNode_t* before, size_t count,
                                          unsigned flags = 0);
WP_API hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode* mode);

WP_API hipGraphCreate(hipGraph_t* graph, unsigned flags);
WP_API hipGraphDestroy(hipGraph_t graph);
WP_API hipGraphClone(hipGraph_t* clone, hipGraph_t graph);
WP_API hipGraphDebugDotPrint(hipGraph_t graph, const char* path, unsigned flags);
WP_API hipGraphGetNodes(hipGraph_t graph, hipGraphNode_t* nodes, size_t* count);
WP_API hipGraphGetRootNodes(hipGraph_t graph, hipGraphNode_t* nodes, size_t* count);
WP_API hipGraphGetEdges(hipGraph_t graph, hipGraphNode_t* from, hipGraphNode_t* to, size_t* count);
WP_API hipGraphAddDependencies(hipGraph_t graph, const hipGraphNode_t* from, const hipGraphNode_t* to, size_t count);
WP_API hipGraphRemoveDependencies(hipGraph_t graph, const hipGraphNode_t* from, const hipGraphNode_t* to,
                                  size_t count);

WP_API hipGraphInstantiate(hipGraphExec_t* exec, hipGraph_t graph, hipGraphNode_t* error_node, char* log,
                           size_t log_bytes);
WP_API hipGraphInstantiateWithFlags(hipGraphExec_t* exec, hipGraph_t graph, unsigned long long flags);
WP_API hipGraphInstantiateWithParams(hipGraphExec_t* exec, hipGraph_t graph, hipGraphInstantiateParams* params);
WP_API hipGraphUpload(hipGraphExec_t exec, hipStream_t stream);
WP_API hipGraphLaunch(hipGraphExec_t exec, hipStream_t stream);
WP_API hipGraphExecUpdate(hipGraphExec_t exec, hipGraph_t graph, hipGraphNode_t* error_node,
                          hipGraphExecUpdateResult* result);
WP_API hipGraphExecGetFlags(hipGraphExec_t exec, unsigned long long* flags);
WP_API hipGraphExecDestroy(hipGraphExec_t exec);

WP_API hipGraphNodeGetType(hipGraphNode_t node, hipGraphNodeType* type);
WP_API hipGraphNodeGetDependencies(hipGraphNode_t node, hipGraphNode_t* nodes, size_t* count);
WP_API hipGraphNodeGetDependentNodes(hipGraphNode_t node, hipGraphNode_t* nodes, size_t* count);
WP_API hipGraphNodeFindInClone(hipGraphNode_t* found, hipGraphNode_t node, hipGraph_t clone);
WP_API hipGraphNodeSetEnabled(hipGraphExec_t exec, hipGraphNode_t node, unsigned is_enabled);
WP_API hipGraphNodeGetEnabled(hipGraphExec_t exec, hipGraphNode_t node, unsigned* is_enabled);
WP_API hipGraphDestroyNode(hipGraphNode_t node);

WP_API hipGraphAddNode(WP_NEW, hipGraphNodeParams* params);
WP_API hipGraphNodeSetParams(hipGraphNode_t node, hipGraphNodeParams* params);
WP_API hipGraphExecNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, hipGraphNodeParams* params);

WP_API hipGraphAddKernelNode(WP_NEW, const hipKernelNodeParams* params);
WP_API hipGraphKernelNodeGetParams(hipGraphNode_t node, hipKernelNodeParams* params);
WP_API hipGraphKernelNodeSetParams(hipGraphNode_t node, const hipKernelNodeParams* params);
WP_API hipGraphExecKernelNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, const hipKernelNodeParams* params);
WP_API hipGraphKernelNodeSetAttribute(hipGraphNode_t node, hipKernelNodeAttrID id, const hipKernelNodeAttrValue* value);
WP_API hipGraphKernelNodeGetAttribute(hipGraphNode_t node, hipKernelNodeAttrID id, hipKernelNodeAttrValue* value);
WP_API hipGraphKernelNodeCopyAttributes(hipGraphNode_t source, hipGraphNode_t target);

WP_API hipGraphAddMemcpyNode(WP_NEW, const hipMemcpy3DParms* params);
WP_API hipGraphMemcpyNodeGetParams(hipGraphNode_t node, hipMemcpy3DParms* params);
WP_API hipGraphMemcpyNodeSetParams(hipGraphNode_t node, const hipMemcpy3DParms* params);
WP_API hipGraphExecMemcpyNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, hipMemcpy3DParms* params);
WP_API hipGraphAddMemcpyNode1D(WP_NEW, void* target, const void* source, size_t bytes, hipMemcpyKind kind);
WP_API hipGraphMemcpyNodeSetParams1D(hipGraphNode_t node, void* target, const void* source, size_t bytes,
                                     hipMemcpyKind kind);
WP_API hipGraphExecMemcpyNodeSetParams1D(hipGraphExec_t exec, hipGraphNode_t node, void* target, const void* source,
                                         size_t bytes, hipMemcpyKind kind);
WP_API hipGraphAddMemcpyNodeFromSymbol(WP_NEW, void* target, const void* symbol, size_t bytes, size_t offset,
                                       hipMemcpyKind kind);
WP_API hipGraphMemcpyNodeSetParamsFromSymbol(hipGraphNode_t node, void* target, const void* symbol, size_t bytes,
                                             size_t offset, hipMemcpyKind kind);
WP_API hipGraphExecMemcpyNodeSetParamsFromSymbol(hipGraphExec_t exec, hipGraphNode_t node, void* target,
                                                 const void* symbol, size_t bytes, size_t offset, hipMemcpyKind kind);
WP_API hipGraphAddMemcpyNodeToSymbol(WP_NEW, const void* symbol, const void* source, size_t bytes, size_t offset,
                                     hipMemcpyKind kind);
WP_API hipGraphMemcpyNodeSetParamsToSymbol(hipGraphNode_t node, const void* symbol, const void* source, size_t bytes,
                                           size_t offset, hipMemcpyKind kind);
WP_API hipGraphExecMemcpyNodeSetParamsToSymbol(hipGraphExec_t exec, hipGraphNode_t node, const void* symbol,
                                               const void* source, size_t bytes, size_t offset, hipMemcpyKind kind);

WP_API hipGraphAddMemsetNode(WP_NEW, const hipMemsetParams* params);
WP_API hipGraphMemsetNodeGetParams(hipGraphNode_t node, hipMemsetParams* params);
WP_API hipGraphMemsetNodeSetParams(hipGraphNode_t node, const hipMemsetParams* params);
WP_API hipGraphExecMemsetNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, const hipMemsetParams* params);

WP_API hipGraphAddHostNode(WP_NEW, const hipHostNodeParams* params);
WP_API hipGraphHostNodeGetParams(hipGraphNode_t node, hipHostNodeParams* params);
WP_API hipGraphHostNodeSetParams(hipGraphNode_t node, const hipHostNodeParams* params);
WP_API hipGraphExecHostNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, const hipHostNodeParams* params);

WP_API hipGraphAddEmptyNode(WP_NEW);
WP_API hipGraphAddChildGraphNode(WP_NEW, hipGraph_t child);
WP_API hipGraphChildGraphNodeGetGraph(hipGraphNode_t node, hipGraph_t* child);
WP_API hipGraphExecChildGraphNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, hipGraph_t child);

WP_API hipGraphAddEventRecordNode(WP_NEW, hipEvent_t event);
WP_API hipGraphEventRecordNodeGetEvent(hipGraphNode_t node, hipEvent_t* event);
WP_API hipGraphEventRecordNodeSetEvent(hipGraphNode_t node, hipEvent_t event);
WP_API hipGraphExecEventRecordNodeSetEvent(hipGraphExec_t exec, hipGraphNode_t node, hipEvent_t event);
WP_API hipGraphAddEventWaitNode(WP_NEW, hipEvent_t event);
WP_API hipGraphEventWaitNodeGetEvent(hipGraphNode_t node, hipEvent_t* event);
WP_API hipGraphEventWaitNodeSetEvent(hipGraphNode_t node, hipEvent_t event);
WP_API hipGraphExecEventWaitNodeSetEvent(hipGraphExec_t exec, hipGraphNode_t node, hipEvent_t event);

WP_API hipUserObjectCreate(hipUserObject_t* object, void* data, hipHostFn_t destroy, unsigned count, unsigned flags);
WP_API hipUserObjectRetain(hipUserObject_t object, unsigned count = 1);
WP_API hipUserObjectRelease(hipUserObject_t object, unsigned count = 1);
WP_API hipGraphRetainUserObject(hipGraph_t graph, hipUserObject_t object, unsigned count = 1, unsigned flags = 0);
WP_API hipGraphReleaseUserObject(hipGraph_t graph, hipUserObject_t object, unsigned count = 1);
}

__host__ inline hipPitchedPtr make_hipPitchedPtr(void* pointer, size_t pitch, size_t width, size_t height) {
    return {pointer, pitch, width, height};
}
__host__ inline hipExtent make_hipExtent(size_t width, size_t height, size_t depth) { return {width, height, depth}; }
__host__ inline hipPos make_hipPos(size_t x, size_t y, size_t z) { return {x, y, z}; }
#undef WP_NEW
#undef WP_API
