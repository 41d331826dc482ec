// HIP's host API in CUDA's names, for nvcc. Only what has a counterpart of the same meaning is here; anything else is
// an undeclared name, and the compiler says so.
#pragma once

#include <cuda_runtime.h>

#include <vector>

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
#define hipErrorCooperativeLaunchTooLarge cudaErrorCooperativeLaunchTooLarge
#define hipErrorHostMemoryAlreadyRegistered cudaErrorHostMemoryAlreadyRegistered
#define hipErrorIllegalAddress cudaErrorIllegalAddress
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
#define hipEventSynchronize cudaEventSynchronize
#define hipEvent_t cudaEvent_t
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
#define hipHostAlloc cudaHostAlloc
#define hipHostFn_t cudaHostFn_t
#define hipHostGetDevicePointer cudaHostGetDevicePointer
#define hipHostGetFlags cudaHostGetFlags
#define hipHostRegister cudaHostRegister
#define hipHostRegisterDefault cudaHostRegisterDefault
#define hipHostUnregister cudaHostUnregister
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
#define hipMemcpyAsync cudaMemcpyAsync
#define hipMemcpyDefault cudaMemcpyDefault
#define hipMemcpyDeviceToDevice cudaMemcpyDeviceToDevice
#define hipMemcpyDeviceToHost cudaMemcpyDeviceToHost
#define hipMemcpyFromSymbol cudaMemcpyFromSymbol
#define hipMemcpyFromSymbolAsync cudaMemcpyFromSymbolAsync
#define hipMemcpyHostToDevice cudaMemcpyHostToDevice
#define hipMemcpyHostToHost cudaMemcpyHostToHost
#define hipMemcpyKind cudaMemcpyKind
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
#define hipOccupancyMaxActiveBlocksPerMultiprocessor cudaOccupancyMaxActiveBlocksPerMultiprocessor
#define hipOccupancyMaxPotentialBlockSize cudaOccupancyMaxPotentialBlockSize
#define hipPeekAtLastError cudaPeekAtLastError
#define hipPointerGetAttributes cudaPointerGetAttributes
#define hipRuntimeGetVersion cudaRuntimeGetVersion
#define hipSetDevice cudaSetDevice
#define hipSetDeviceFlags cudaSetDeviceFlags
#define hipSharedMemBankSizeDefault cudaSharedMemBankSizeDefault
#define hipSharedMemBankSizeEightByte cudaSharedMemBankSizeEightByte
#define hipSharedMemBankSizeFourByte cudaSharedMemBankSizeFourByte
#define hipSharedMemConfig cudaSharedMemConfig
#define hipStreamAddCallback cudaStreamAddCallback
#define hipStreamAttachMemAsync cudaStreamAttachMemAsync
#define hipStreamBeginCapture cudaStreamBeginCapture
#define hipStreamCallback_t cudaStreamCallback_t
#define hipStreamCreate cudaStreamCreate
#define hipStreamCreateWithFlags cudaStreamCreateWithFlags
#define hipStreamCreateWithPriority cudaStreamCreateWithPriority
#define hipStreamDefault cudaStreamDefault
#define hipStreamDestroy cudaStreamDestroy
#define hipStreamEndCapture cudaStreamEndCapture
#define hipStreamGetFlags cudaStreamGetFlags
#define hipStreamGetPriority cudaStreamGetPriority
#define hipStreamNonBlocking cudaStreamNonBlocking
#define hipStreamQuery cudaStreamQuery
#define hipStreamSynchronize cudaStreamSynchronize
#define hipStreamWaitEvent cudaStreamWaitEvent
#define hipStream_t cudaStream_t
#define hipSuccess cudaSuccess
#define hipUUID_t cudaUUID_t

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
