// HIP's host API in CUDA's names, for nvcc. Only what has a counterpart of the same meaning is here; anything else is
// an undeclared name, and the compiler says so.
#pragma once

#include <cuda_runtime.h>

#include <vector>

#define hipChildGraphNodeParams cudaChildGraphNodeParams
#define hipDeviceAttributeMaxSharedMemoryPerBlock cudaDevAttrMaxSharedMemoryPerBlock
#define hipDeviceAttributeMaxThreadsPerBlock cudaDevAttrMaxThreadsPerBlock
#define hipDeviceAttributeMultiprocessorCount cudaDevAttrMultiProcessorCount
#define hipDeviceAttributeWarpSize cudaDevAttrWarpSize
#define hipDeviceAttribute_t cudaDeviceAttr
#define hipDeviceCanAccessPeer cudaDeviceCanAccessPeer
#define hipDeviceDisablePeerAccess cudaDeviceDisablePeerAccess
#define hipDeviceEnablePeerAccess cudaDeviceEnablePeerAccess
#define hipDeviceGetAttribute cudaDeviceGetAttribute
#define hipDeviceGetByPCIBusId cudaDeviceGetByPCIBusId
#define hipDeviceGetDefaultMemPool cudaDeviceGetDefaultMemPool
#define hipDeviceGetLimit cudaDeviceGetLimit
#define hipDeviceGetMemPool cudaDeviceGetMemPool
#define hipDeviceGetPCIBusId cudaDeviceGetPCIBusId
#define hipDeviceGetStreamPriorityRange cudaDeviceGetStreamPriorityRange
#define hipDeviceProp_t cudaDeviceProp
#define hipDeviceReset cudaDeviceReset
#define hipDeviceScheduleAuto cudaDeviceScheduleAuto
#define hipDeviceSetCacheConfig cudaDeviceSetCacheConfig
#define hipDeviceSetLimit cudaDeviceSetLimit
#define hipDeviceSetMemPool cudaDeviceSetMemPool
#define hipDeviceSetSharedMemConfig cudaDeviceSetSharedMemConfig
#define hipDeviceSynchronize cudaDeviceSynchronize
#define hipDriverGetVersion cudaDriverGetVersion
#define hipErrorCapturedEvent cudaErrorCapturedEvent
#define hipErrorCooperativeLaunchTooLarge cudaErrorCooperativeLaunchTooLarge
#define hipErrorGraphExecUpdateFailure cudaErrorGraphExecUpdateFailure
#define hipErrorHostMemoryAlreadyRegistered cudaErrorHostMemoryAlreadyRegistered
#define hipErrorIllegalAddress cudaErrorIllegalAddress
#define hipErrorIllegalState cudaErrorIllegalState
#define hipErrorInvalidConfiguration cudaErrorInvalidConfiguration
#define hipErrorInvalidDevice cudaErrorInvalidDevice
#define hipErrorInvalidDeviceFunction cudaErrorInvalidDeviceFunction
#define hipErrorInvalidDevicePointer cudaErrorInvalidDevicePointer
#define hipErrorInvalidHandle cudaErrorInvalidHandle
#define hipErrorInvalidMemcpyDirection cudaErrorInvalidMemcpyDirection
#define hipErrorInvalidResourceHandle cudaErrorInvalidResourceHandle
#define hipErrorInvalidSymbol cudaErrorInvalidSymbol
#define hipErrorInvalidValue cudaErrorInvalidValue
#define hipErrorLaunchFailure cudaErrorLaunchFailure
#define hipErrorLaunchOutOfResources cudaErrorLaunchOutOfResources
#define hipErrorMemoryAllocation cudaErrorMemoryAllocation
#define hipErrorNoDevice cudaErrorNoDevice
#define hipErrorNotReady cudaErrorNotReady
#define hipErrorNotSupported cudaErrorNotSupported
#define hipErrorOutOfMemory cudaErrorMemoryAllocation
#define hipErrorPeerAccessAlreadyEnabled cudaErrorPeerAccessAlreadyEnabled
#define hipErrorStreamCaptureImplicit cudaErrorStreamCaptureImplicit
#define hipErrorStreamCaptureInvalidated cudaErrorStreamCaptureInvalidated
#define hipErrorStreamCaptureIsolation cudaErrorStreamCaptureIsolation
#define hipErrorStreamCaptureMerge cudaErrorStreamCaptureMerge
#define hipErrorStreamCaptureUnjoined cudaErrorStreamCaptureUnjoined
#define hipErrorStreamCaptureUnmatched cudaErrorStreamCaptureUnmatched
#define hipErrorStreamCaptureUnsupported cudaErrorStreamCaptureUnsupported
#define hipErrorStreamCaptureWrongThread cudaErrorStreamCaptureWrongThread
#define hipErrorUnknown cudaErrorUnknown
#define hipError_t cudaError_t
#define hipEventBlockingSync cudaEventBlockingSync
#define hipEventCreate cudaEventCreate
#define hipEventCreateWithFlags cudaEventCreateWithFlags
#define hipEventDefault cudaEventDefault
#define hipEventDestroy cudaEventDestroy
#define hipEventDisableTiming cudaEventDisableTiming
#define hipEventElapsedTime cudaEventElapsedTime
#define hipEventQuery cudaEventQuery
#define hipEventRecord cudaEventRecord
#define hipEventRecordDefault cudaEventRecordDefault
#define hipEventRecordExternal cudaEventRecordExternal
#define hipEventRecordNodeParams cudaEventRecordNodeParams
#define hipEventSynchronize cudaEventSynchronize
#define hipEventWaitDefault cudaEventWaitDefault
#define hipEventWaitExternal cudaEventWaitExternal
#define hipEventWaitNodeParams cudaEventWaitNodeParams
#define hipEvent_t cudaEvent_t
#define hipExtent cudaExtent
#define hipFree cudaFree
#define hipFreeAsync cudaFreeAsync
#define hipFreeHost cudaFreeHost
#define hipFuncAttribute cudaFuncAttribute
#define hipFuncAttributeMaxDynamicSharedMemorySize cudaFuncAttributeMaxDynamicSharedMemorySize
#define hipFuncAttributePreferredSharedMemoryCarveout cudaFuncAttributePreferredSharedMemoryCarveout
#define hipFuncAttributes cudaFuncAttributes
#define hipFuncCachePreferEqual cudaFuncCachePreferEqual
#define hipFuncCachePreferL1 cudaFuncCachePreferL1
#define hipFuncCachePreferNone cudaFuncCachePreferNone
#define hipFuncCachePreferShared cudaFuncCachePreferShared
#define hipFuncGetAttributes cudaFuncGetAttributes
#define hipFuncSetAttribute cudaFuncSetAttribute
#define hipFuncSetCacheConfig cudaFuncSetCacheConfig
#define hipFuncSetSharedMemConfig cudaFuncSetSharedMemConfig
#define hipGetDevice cudaGetDevice
#define hipGetDeviceCount cudaGetDeviceCount
#define hipGetDeviceFlags cudaGetDeviceFlags
#define hipGetDeviceProperties cudaGetDeviceProperties
#define hipGetErrorName cudaGetErrorName
#define hipGetErrorString cudaGetErrorString
#define hipGetLastError cudaGetLastError
#define hipGetSymbolAddress cudaGetSymbolAddress
#define hipGetSymbolSize cudaGetSymbolSize
#define hipGraphAddChildGraphNode cudaGraphAddChildGraphNode
#define hipGraphAddEmptyNode cudaGraphAddEmptyNode
#define hipGraphAddEventRecordNode cudaGraphAddEventRecordNode
#define hipGraphAddEventWaitNode cudaGraphAddEventWaitNode
#define hipGraphAddHostNode cudaGraphAddHostNode
#define hipGraphAddKernelNode cudaGraphAddKernelNode
#define hipGraphAddMemcpyNode cudaGraphAddMemcpyNode
#define hipGraphAddMemcpyNode1D cudaGraphAddMemcpyNode1D
#define hipGraphAddMemcpyNodeFromSymbol cudaGraphAddMemcpyNodeFromSymbol
#define hipGraphAddMemcpyNodeToSymbol cudaGraphAddMemcpyNodeToSymbol
#define hipGraphAddMemsetNode cudaGraphAddMemsetNode
#define hipGraphChildGraphNodeGetGraph cudaGraphChildGraphNodeGetGraph
#define hipGraphClone cudaGraphClone
#define hipGraphCreate cudaGraphCreate
#define hipGraphDebugDotFlags cudaGraphDebugDotFlags
#define hipGraphDebugDotFlagsEventNodeParams cudaGraphDebugDotFlagsEventNodeParams
#define hipGraphDebugDotFlagsHandles cudaGraphDebugDotFlagsHandles
#define hipGraphDebugDotFlagsHostNodeParams cudaGraphDebugDotFlagsHostNodeParams
#define hipGraphDebugDotFlagsKernelNodeAttributes cudaGraphDebugDotFlagsKernelNodeAttributes
#define hipGraphDebugDotFlagsKernelNodeParams cudaGraphDebugDotFlagsKernelNodeParams
#define hipGraphDebugDotFlagsMemcpyNodeParams cudaGraphDebugDotFlagsMemcpyNodeParams
#define hipGraphDebugDotFlagsMemsetNodeParams cudaGraphDebugDotFlagsMemsetNodeParams
#define hipGraphDebugDotFlagsVerbose cudaGraphDebugDotFlagsVerbose
#define hipGraphDebugDotPrint cudaGraphDebugDotPrint
#define hipGraphDestroy cudaGraphDestroy
#define hipGraphDestroyNode cudaGraphDestroyNode
#define hipGraphEdgeData cudaGraphEdgeData
#define hipGraphEventRecordNodeGetEvent cudaGraphEventRecordNodeGetEvent
#define hipGraphEventRecordNodeSetEvent cudaGraphEventRecordNodeSetEvent
#define hipGraphEventWaitNodeGetEvent cudaGraphEventWaitNodeGetEvent
#define hipGraphEventWaitNodeSetEvent cudaGraphEventWaitNodeSetEvent
#define hipGraphExecChildGraphNodeSetParams cudaGraphExecChildGraphNodeSetParams
#define hipGraphExecDestroy cudaGraphExecDestroy
#define hipGraphExecEventRecordNodeSetEvent cudaGraphExecEventRecordNodeSetEvent
#define hipGraphExecEventWaitNodeSetEvent cudaGraphExecEventWaitNodeSetEvent
#define hipGraphExecGetFlags cudaGraphExecGetFlags
#define hipGraphExecHostNodeSetParams cudaGraphExecHostNodeSetParams
#define hipGraphExecKernelNodeSetParams cudaGraphExecKernelNodeSetParams
#define hipGraphExecMemcpyNodeSetParams cudaGraphExecMemcpyNodeSetParams
#define hipGraphExecMemcpyNodeSetParams1D cudaGraphExecMemcpyNodeSetParams1D
#define hipGraphExecMemcpyNodeSetParamsFromSymbol cudaGraphExecMemcpyNodeSetParamsFromSymbol
#define hipGraphExecMemcpyNodeSetParamsToSymbol cudaGraphExecMemcpyNodeSetParamsToSymbol
#define hipGraphExecMemsetNodeSetParams cudaGraphExecMemsetNodeSetParams
#define hipGraphExecNodeSetParams cudaGraphExecNodeSetParams
#define hipGraphExecUpdateError cudaGraphExecUpdateError
#define hipGraphExecUpdateErrorFunctionChanged cudaGraphExecUpdateErrorFunctionChanged
#define hipGraphExecUpdateErrorNodeTypeChanged cudaGraphExecUpdateErrorNodeTypeChanged
#define hipGraphExecUpdateErrorNotSupported cudaGraphExecUpdateErrorNotSupported
#define hipGraphExecUpdateErrorParametersChanged cudaGraphExecUpdateErrorParametersChanged
#define hipGraphExecUpdateErrorTopologyChanged cudaGraphExecUpdateErrorTopologyChanged
#define hipGraphExecUpdateErrorUnsupportedFunctionChange cudaGraphExecUpdateErrorUnsupportedFunctionChange
#define hipGraphExecUpdateResult cudaGraphExecUpdateResult
#define hipGraphExecUpdateSuccess cudaGraphExecUpdateSuccess
#define hipGraphExec_t cudaGraphExec_t
#define hipGraphGetNodes cudaGraphGetNodes
#define hipGraphGetRootNodes cudaGraphGetRootNodes
#define hipGraphHostNodeGetParams cudaGraphHostNodeGetParams
#define hipGraphHostNodeSetParams cudaGraphHostNodeSetParams
#define hipGraphInstantiateError cudaGraphInstantiateError
#define hipGraphInstantiateFlagAutoFreeOnLaunch cudaGraphInstantiateFlagAutoFreeOnLaunch
#define hipGraphInstantiateFlagDeviceLaunch cudaGraphInstantiateFlagDeviceLaunch
#define hipGraphInstantiateFlagUpload cudaGraphInstantiateFlagUpload
#define hipGraphInstantiateFlagUseNodePriority cudaGraphInstantiateFlagUseNodePriority
#define hipGraphInstantiateFlags cudaGraphInstantiateFlags
#define hipGraphInstantiateInvalidStructure cudaGraphInstantiateInvalidStructure
#define hipGraphInstantiateMultipleDevicesNotSupported cudaGraphInstantiateMultipleDevicesNotSupported
#define hipGraphInstantiateNodeOperationNotSupported cudaGraphInstantiateNodeOperationNotSupported
#define hipGraphInstantiateParams cudaGraphInstantiateParams
#define hipGraphInstantiateResult cudaGraphInstantiateResult
#define hipGraphInstantiateSuccess cudaGraphInstantiateSuccess
#define hipGraphInstantiateWithFlags cudaGraphInstantiateWithFlags
#define hipGraphInstantiateWithParams cudaGraphInstantiateWithParams
#define hipGraphKernelNodeCopyAttributes cudaGraphKernelNodeCopyAttributes
#define hipGraphKernelNodeGetAttribute cudaGraphKernelNodeGetAttribute
#define hipGraphKernelNodeGetParams cudaGraphKernelNodeGetParams
#define hipGraphKernelNodeSetAttribute cudaGraphKernelNodeSetAttribute
#define hipGraphKernelNodeSetParams cudaGraphKernelNodeSetParams
#define hipGraphLaunch cudaGraphLaunch
#define hipGraphMemcpyNodeGetParams cudaGraphMemcpyNodeGetParams
#define hipGraphMemcpyNodeSetParams cudaGraphMemcpyNodeSetParams
#define hipGraphMemcpyNodeSetParams1D cudaGraphMemcpyNodeSetParams1D
#define hipGraphMemcpyNodeSetParamsFromSymbol cudaGraphMemcpyNodeSetParamsFromSymbol
#define hipGraphMemcpyNodeSetParamsToSymbol cudaGraphMemcpyNodeSetParamsToSymbol
#define hipGraphMemsetNodeGetParams cudaGraphMemsetNodeGetParams
#define hipGraphMemsetNodeSetParams cudaGraphMemsetNodeSetParams
#define hipGraphNodeFindInClone cudaGraphNodeFindInClone
#define hipGraphNodeGetEnabled cudaGraphNodeGetEnabled
#define hipGraphNodeGetType cudaGraphNodeGetType
#define hipGraphNodeParams cudaGraphNodeParams
#define hipGraphNodeSetEnabled cudaGraphNodeSetEnabled
#define hipGraphNodeSetParams cudaGraphNodeSetParams
#define hipGraphNodeType cudaGraphNodeType
#define hipGraphNodeTypeCount cudaGraphNodeTypeCount
#define hipGraphNodeTypeEmpty cudaGraphNodeTypeEmpty
#define hipGraphNodeTypeEventRecord cudaGraphNodeTypeEventRecord
#define hipGraphNodeTypeGraph cudaGraphNodeTypeGraph
#define hipGraphNodeTypeHost cudaGraphNodeTypeHost
#define hipGraphNodeTypeKernel cudaGraphNodeTypeKernel
#define hipGraphNodeTypeMemcpy cudaGraphNodeTypeMemcpy
#define hipGraphNodeTypeMemset cudaGraphNodeTypeMemset
#define hipGraphNodeTypeWaitEvent cudaGraphNodeTypeWaitEvent
#define hipGraphNode_t cudaGraphNode_t
#define hipGraphReleaseUserObject cudaGraphReleaseUserObject
#define hipGraphRetainUserObject cudaGraphRetainUserObject
#define hipGraphUpload cudaGraphUpload
#define hipGraphUserObjectMove cudaGraphUserObjectMove
#define hipGraph_t cudaGraph_t
#define hipHostAlloc cudaHostAlloc
#define hipHostFn_t cudaHostFn_t
#define hipHostGetDevicePointer cudaHostGetDevicePointer
#define hipHostGetFlags cudaHostGetFlags
#define hipHostNodeParams cudaHostNodeParams
#define hipHostRegister cudaHostRegister
#define hipHostRegisterDefault cudaHostRegisterDefault
#define hipHostUnregister cudaHostUnregister
#define hipKernelNodeAttrID cudaKernelNodeAttrID
#define hipKernelNodeAttrValue cudaKernelNodeAttrValue
#define hipKernelNodeAttributeAccessPolicyWindow cudaKernelNodeAttributeAccessPolicyWindow
#define hipKernelNodeAttributeCooperative cudaKernelNodeAttributeCooperative
#define hipKernelNodeAttributePriority cudaKernelNodeAttributePriority
#define hipKernelNodeParams cudaKernelNodeParams
#define hipLaunchAttributeAccessPolicyWindow cudaLaunchAttributeAccessPolicyWindow
#define hipLaunchAttributeCooperative cudaLaunchAttributeCooperative
#define hipLaunchAttributeID cudaLaunchAttributeID
#define hipLaunchAttributePriority cudaLaunchAttributePriority
#define hipLaunchAttributeValue cudaLaunchAttributeValue
#define hipLaunchCooperativeKernel cudaLaunchCooperativeKernel
#define hipLaunchHostFunc cudaLaunchHostFunc
#define hipLaunchKernel cudaLaunchKernel
#define hipLimitMallocHeapSize cudaLimitMallocHeapSize
#define hipLimitPrintfFifoSize cudaLimitPrintfFifoSize
#define hipLimitStackSize cudaLimitStackSize
#define hipLimit_t cudaLimit
#define hipMalloc cudaMalloc
#define hipMallocAsync cudaMallocAsync
#define hipMallocFromPoolAsync cudaMallocFromPoolAsync
#define hipMallocHost cudaMallocHost
#define hipMallocManaged cudaMallocManaged
#define hipMallocPitch cudaMallocPitch
#define hipMemAttachGlobal cudaMemAttachGlobal
#define hipMemAttachHost cudaMemAttachHost
#define hipMemGetInfo cudaMemGetInfo
#define hipMemPoolAttrReleaseThreshold cudaMemPoolAttrReleaseThreshold
#define hipMemPoolGetAttribute cudaMemPoolGetAttribute
#define hipMemPoolSetAttribute cudaMemPoolSetAttribute
#define hipMemPool_t cudaMemPool_t
#define hipMemcpy cudaMemcpy
#define hipMemcpy2D cudaMemcpy2D
#define hipMemcpy2DAsync cudaMemcpy2DAsync
#define hipMemcpy3D cudaMemcpy3D
#define hipMemcpy3DParms cudaMemcpy3DParms
#define hipMemcpyAsync cudaMemcpyAsync
#define hipMemcpyDefault cudaMemcpyDefault
#define hipMemcpyDeviceToDevice cudaMemcpyDeviceToDevice
#define hipMemcpyDeviceToHost cudaMemcpyDeviceToHost
#define hipMemcpyFromSymbol cudaMemcpyFromSymbol
#define hipMemcpyFromSymbolAsync cudaMemcpyFromSymbolAsync
#define hipMemcpyHostToDevice cudaMemcpyHostToDevice
#define hipMemcpyHostToHost cudaMemcpyHostToHost
#define hipMemcpyKind cudaMemcpyKind
#define hipMemcpyNodeParams cudaMemcpyNodeParams
#define hipMemcpyPeer cudaMemcpyPeer
#define hipMemcpyPeerAsync cudaMemcpyPeerAsync
#define hipMemcpyToSymbol cudaMemcpyToSymbol
#define hipMemcpyToSymbolAsync cudaMemcpyToSymbolAsync
#define hipMemoryType cudaMemoryType
#define hipMemoryTypeDevice cudaMemoryTypeDevice
#define hipMemoryTypeHost cudaMemoryTypeHost
#define hipMemoryTypeManaged cudaMemoryTypeManaged
#define hipMemoryTypeUnregistered cudaMemoryTypeUnregistered
#define hipMemset cudaMemset
#define hipMemset2D cudaMemset2D
#define hipMemsetAsync cudaMemsetAsync
#define hipMemsetParams cudaMemsetParams
#define hipOccupancyMaxActiveBlocksPerMultiprocessor cudaOccupancyMaxActiveBlocksPerMultiprocessor
#define hipOccupancyMaxPotentialBlockSize cudaOccupancyMaxPotentialBlockSize
#define hipPeekAtLastError cudaPeekAtLastError
#define hipPitchedPtr cudaPitchedPtr
#define hipPointerGetAttributes cudaPointerGetAttributes
#define hipPos cudaPos
#define hipRuntimeGetVersion cudaRuntimeGetVersion
#define hipSetDevice cudaSetDevice
#define hipSetDeviceFlags cudaSetDeviceFlags
#define hipSharedMemBankSizeDefault cudaSharedMemBankSizeDefault
#define hipSharedMemBankSizeEightByte cudaSharedMemBankSizeEightByte
#define hipSharedMemBankSizeFourByte cudaSharedMemBankSizeFourByte
#define hipSharedMemConfig cudaSharedMemConfig
#define hipStreamAddCallback cudaStreamAddCallback
#define hipStreamAddCaptureDependencies cudaStreamAddCaptureDependencies
#define hipStreamAttachMemAsync cudaStreamAttachMemAsync
#define hipStreamBeginCapture cudaStreamBeginCapture
#define hipStreamBeginCaptureToGraph cudaStreamBeginCaptureToGraph
#define hipStreamCallback_t cudaStreamCallback_t
#define hipStreamCaptureMode cudaStreamCaptureMode
#define hipStreamCaptureModeGlobal cudaStreamCaptureModeGlobal
#define hipStreamCaptureModeRelaxed cudaStreamCaptureModeRelaxed
#define hipStreamCaptureModeThreadLocal cudaStreamCaptureModeThreadLocal
#define hipStreamCaptureStatus cudaStreamCaptureStatus
#define hipStreamCaptureStatusActive cudaStreamCaptureStatusActive
#define hipStreamCaptureStatusInvalidated cudaStreamCaptureStatusInvalidated
#define hipStreamCaptureStatusNone cudaStreamCaptureStatusNone
#define hipStreamCreate cudaStreamCreate
#define hipStreamCreateWithFlags cudaStreamCreateWithFlags
#define hipStreamCreateWithPriority cudaStreamCreateWithPriority
#define hipStreamDefault cudaStreamDefault
#define hipStreamDestroy cudaStreamDestroy
#define hipStreamEndCapture cudaStreamEndCapture
#define hipStreamGetFlags cudaStreamGetFlags
#define hipStreamGetPriority cudaStreamGetPriority
#define hipStreamIsCapturing cudaStreamIsCapturing
#define hipStreamNonBlocking cudaStreamNonBlocking
#define hipStreamQuery cudaStreamQuery
#define hipStreamSetCaptureDependencies cudaStreamSetCaptureDependencies
#define hipStreamSynchronize cudaStreamSynchronize
#define hipStreamUpdateCaptureDependenciesFlags cudaStreamUpdateCaptureDependenciesFlags
#define hipStreamWaitEvent cudaStreamWaitEvent
#define hipStream_t cudaStream_t
#define hipSuccess cudaSuccess
#define hipThreadExchangeStreamCaptureMode cudaThreadExchangeStreamCaptureMode
#define hipUUID_t cudaUUID_t
#define hipUserObjectCreate cudaUserObjectCreate
#define hipUserObjectFlags cudaUserObjectFlags
#define hipUserObjectNoDestructorSync cudaUserObjectNoDestructorSync
#define hipUserObjectRelease cudaUserObjectRelease
#define hipUserObjectRetain cudaUserObjectRetain
#define hipUserObjectRetainFlags cudaUserObjectRetainFlags
#define hipUserObject_t cudaUserObject_t
#define make_hipExtent make_cudaExtent
#define make_hipPitchedPtr make_cudaPitchedPtr
#define make_hipPos make_cudaPos

// Names that CUDA has in other words.
#define hipDeviceAttributeClockRate cudaDevAttrClockRate
#define hipDeviceAttributeComputeCapabilityMajor cudaDevAttrComputeCapabilityMajor
#define hipDeviceAttributeComputeCapabilityMinor cudaDevAttrComputeCapabilityMinor
#define hipDeviceAttributeConcurrentKernels cudaDevAttrConcurrentKernels
#define hipDeviceAttributeCooperativeLaunch cudaDevAttrCooperativeLaunch
#define hipDeviceAttributeL2CacheSize cudaDevAttrL2CacheSize
#define hipDeviceAttributeManagedMemory cudaDevAttrManagedMemory
#define hipDeviceAttributeMaxBlockDimX cudaDevAttrMaxBlockDimX
#define hipDeviceAttributeMaxBlockDimY cudaDevAttrMaxBlockDimY
#define hipDeviceAttributeMaxBlockDimZ cudaDevAttrMaxBlockDimZ
#define hipDeviceAttributeMaxBlocksPerMultiProcessor cudaDevAttrMaxBlocksPerMultiprocessor
#define hipDeviceAttributeMaxGridDimX cudaDevAttrMaxGridDimX
#define hipDeviceAttributeMaxGridDimY cudaDevAttrMaxGridDimY
#define hipDeviceAttributeMaxGridDimZ cudaDevAttrMaxGridDimZ
#define hipDeviceAttributeMaxRegistersPerBlock cudaDevAttrMaxRegistersPerBlock
#define hipDeviceAttributeMaxSharedMemoryPerMultiprocessor cudaDevAttrMaxSharedMemoryPerMultiprocessor
#define hipDeviceAttributeMaxThreadsPerMultiProcessor cudaDevAttrMaxThreadsPerMultiProcessor
#define hipDeviceAttributeMemoryBusWidth cudaDevAttrGlobalMemoryBusWidth
#define hipDeviceAttributeMemoryClockRate cudaDevAttrMemoryClockRate
#define hipDeviceAttributeSharedMemPerBlockOptin cudaDevAttrMaxSharedMemoryPerBlockOptin
#define hipErrorLaunchTimeOut cudaErrorLaunchTimeout
#define hipErrorNotFound cudaErrorSymbolNotFound
#define hipErrorNotInitialized cudaErrorInitializationError
#define hipFuncCache_t cudaFuncCache
#define hipHostFree cudaFreeHost
#define hipHostMalloc(...) wavepool_host_malloc(__VA_ARGS__)
#define hipHostMallocDefault cudaHostAllocDefault
#define hipHostMallocMapped cudaHostAllocMapped
#define hipHostMallocPortable cudaHostAllocPortable
#define hipHostMallocWriteCombined cudaHostAllocWriteCombined
#define hipPointerAttribute_t cudaPointerAttributes
#define hipUUID cudaUUID_t

template <typename T>
cudaError_t wavepool_host_malloc(T** address, size_t bytes, unsigned flags = cudaHostAllocDefault) {
  return cudaHostAlloc(reinterpret_cast<void**>(address), bytes, flags);
}

static inline cudaError_t hipGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, cudaGraphNode_t* error_node, char* log,
                                              size_t log_bytes) {
  if (error_node) *error_node = nullptr;
  if (log && log_bytes) *log = 0;
  return cudaGraphInstantiateWithFlags(exec, graph, 0);
}

static inline cudaError_t hipInit(unsigned) { return cudaFree(nullptr); }

static inline cudaError_t hipMemcpyDtoD(void* into, void* from, size_t bytes) {
  return cudaMemcpy(into, from, bytes, cudaMemcpyDeviceToDevice);
}

static inline cudaError_t hipMemcpyDtoH(void* into, void* from, size_t bytes) {
  return cudaMemcpy(into, from, bytes, cudaMemcpyDeviceToHost);
}

static inline cudaError_t hipMemcpyHtoD(void* into, const void* from, size_t bytes) {
  return cudaMemcpy(into, from, bytes, cudaMemcpyHostToDevice);
}

static inline cudaError_t hipMemcpyWithStream(void* into, const void* from, size_t bytes, cudaMemcpyKind kind,
                                              cudaStream_t stream) {
  const cudaError_t status = cudaMemcpyAsync(into, from, bytes, kind, stream);
  return status == cudaSuccess ? cudaStreamSynchronize(stream) : status;
}

static inline cudaError_t hipMemsetD8(void* into, unsigned char value, size_t count) { return cudaMemset(into, value, count); }

// The runtime sets bytes alone, and the driver's library is not linked.
static inline cudaError_t hipMemsetD32(void* into, int value, size_t count) {
  const int byte = value & 0xff;
  if (static_cast<unsigned>(value) == byte * 0x01010101u) return cudaMemset(into, byte, count * sizeof value);
  const std::vector<int> values(count, value);
  return cudaMemcpy(into, values.data(), count * sizeof value, cudaMemcpyHostToDevice);
}

// A context is a device's only one.
using hipCtx_t = void*;

static inline cudaError_t hipCtxGetCurrent(hipCtx_t* context) {
  int device = 0;
  const cudaError_t status = cudaGetDevice(&device);
  *context = reinterpret_cast<void*>(static_cast<size_t>(device) + 1);
  return status;
}

// Code objects through the runtime's own library calls, so that nothing needs the driver's library to link.
using hipModule_t = cudaLibrary_t;
using hipFunction_t = cudaKernel_t;
using hipDevice_t = int;

static inline cudaError_t hipModuleLoadData(hipModule_t* module, const void* image) {
  return cudaLibraryLoadData(module, image, nullptr, nullptr, 0, nullptr, nullptr, 0);
}

static inline cudaError_t hipModuleUnload(hipModule_t module) { return cudaLibraryUnload(module); }

static inline cudaError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t module, const char* name) {
  return cudaLibraryGetKernel(function, module, name);
}

static inline cudaError_t hipModuleLaunchKernel(hipFunction_t function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                                unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                                cudaStream_t stream, void** arguments, void**) {
  return cudaLaunchKernel(reinterpret_cast<const void*>(function), dim3(grid_x, grid_y, grid_z),
                          dim3(block_x, block_y, block_z), arguments, shared_bytes, stream);
}

static inline cudaError_t hipModuleLaunchCooperativeKernel(hipFunction_t function, unsigned grid_x, unsigned grid_y,
                                                           unsigned grid_z, unsigned block_x, unsigned block_y,
                                                           unsigned block_z, unsigned shared_bytes, cudaStream_t stream,
                                                           void** arguments) {
  return cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(function), dim3(grid_x, grid_y, grid_z),
                                     dim3(block_x, block_y, block_z), arguments, shared_bytes, stream);
}

using hipDeviceptr_t = void*;

static inline cudaError_t hipModuleGetGlobal(hipDeviceptr_t* address, size_t* bytes, hipModule_t module, const char* name) {
  return cudaLibraryGetGlobal(address, bytes, module, name);
}
