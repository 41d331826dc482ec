// The names of all that a device says of itself: fields of hipDeviceProp_t, and attributes.
// A GPU is asked for them by core/run/device_properties.hip, and the recorder is told its answers.
#pragma once

#define WAVEPOOL_PROPERTIES(F)                                                                                    \
    F(name) F(uuid) F(totalGlobalMem) F(sharedMemPerBlock) F(sharedMemPerBlockOptin) F(sharedMemPerMultiprocessor) \
    F(maxSharedMemoryPerMultiProcessor) F(totalConstMem) F(memPitch) F(regsPerBlock) F(regsPerMultiprocessor)     \
    F(warpSize) F(maxThreadsPerBlock) F(maxThreadsDim) F(maxGridSize) F(clockRate) F(clockInstructionRate)        \
    F(memoryClockRate) F(memoryBusWidth) F(major) F(minor) F(multiProcessorCount) F(maxBlocksPerMultiProcessor)   \
    F(maxThreadsPerMultiProcessor) F(l2CacheSize) F(computeMode) F(concurrentKernels) F(cooperativeLaunch)        \
    F(asyncEngineCount) F(integrated) F(canMapHostMemory) F(managedMemory) F(concurrentManagedAccess)             \
    F(unifiedAddressing) F(ECCEnabled) F(pciDomainID) F(pciBusID) F(pciDeviceID) F(isMultiGpuBoard)               \
    F(kernelExecTimeoutEnabled) F(deviceOverlap) F(pageableMemoryAccess) F(persistingL2CacheMaxSize)              \
    F(accessPolicyMaxWindowSize) F(textureAlignment) F(arch) F(gcnArchName)

#define WAVEPOOL_ATTRIBUTES(F)                                                                         \
    F(hipDeviceAttributeMaxThreadsPerBlock) F(hipDeviceAttributeMaxBlockDimX)                          \
    F(hipDeviceAttributeMaxBlockDimY) F(hipDeviceAttributeMaxBlockDimZ) F(hipDeviceAttributeMaxGridDimX) \
    F(hipDeviceAttributeMaxGridDimY) F(hipDeviceAttributeMaxGridDimZ)                                  \
    F(hipDeviceAttributeMaxSharedMemoryPerBlock) F(hipDeviceAttributeSharedMemPerBlockOptin)           \
    F(hipDeviceAttributeMaxSharedMemoryPerMultiprocessor) F(hipDeviceAttributeWarpSize)                \
    F(hipDeviceAttributeMultiprocessorCount) F(hipDeviceAttributeMaxThreadsPerMultiProcessor)          \
    F(hipDeviceAttributeMaxRegistersPerBlock) F(hipDeviceAttributeClockRate)                           \
    F(hipDeviceAttributeMemoryClockRate) F(hipDeviceAttributeMemoryBusWidth)                           \
    F(hipDeviceAttributeL2CacheSize) F(hipDeviceAttributeComputeCapabilityMajor)                       \
    F(hipDeviceAttributeComputeCapabilityMinor) F(hipDeviceAttributeConcurrentKernels)                 \
    F(hipDeviceAttributeCooperativeLaunch) F(hipDeviceAttributeManagedMemory)                          \
    F(hipDeviceAttributeMaxBlocksPerMultiProcessor)
// CUDA has no counterpart of it.
#define WAVEPOOL_ATTRIBUTES_OF_ROCM(F) F(hipDeviceAttributeWallClockRate)
