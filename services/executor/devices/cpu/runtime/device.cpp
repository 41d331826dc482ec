// The one device there is, and what it says about itself.
#include <cstdio>
#include <cstring>

#include "device_facts.h"
#include "errors.h"
#include "launch_limits.h"
#include "wavepool/host_api.h"

using namespace wavepool;

namespace {
// As an MI300X answers; the cpu device's own numbers are the memory, the compute units and the name.
constexpr int kThreadsPerUnit = 2048;
constexpr int kRegistersPerBlock = 65536;
constexpr int kClockKilohertz = 2100000;
constexpr int kCacheBytes = 4 << 20;
constexpr int kMemoryBusBits = 8192;
constexpr int kRuntimeVersion = 60443482;

hipError_t known(int device) { return remember(device == 0 ? hipSuccess : hipErrorInvalidDevice); }

int attribute_of(hipDeviceAttribute_t attribute) {
    switch (attribute) {
        case hipDeviceAttributeMaxThreadsPerBlock:
        case hipDeviceAttributeMaxBlockDimX:
        case hipDeviceAttributeMaxBlockDimY:
        case hipDeviceAttributeMaxBlockDimZ: return int(device_facts().threads_per_block);
        case hipDeviceAttributeMaxGridDimX: return kMaxGridDim;
        case hipDeviceAttributeMaxGridDimY:
        case hipDeviceAttributeMaxGridDimZ: return kMaxGridDimYZ;
        case hipDeviceAttributeMaxSharedMemoryPerBlock: return int(device_facts().shared_bytes_by_default());
        case hipDeviceAttributeSharedMemPerBlockOptin:
        case hipDeviceAttributeMaxSharedMemoryPerMultiprocessor: return int(device_facts().shared_bytes_per_block);
        case hipDeviceAttributeWarpSize: return int(device_facts().wavefront);
        case hipDeviceAttributeMultiprocessorCount: return int(device_facts().compute_units);
        case hipDeviceAttributeMaxThreadsPerMultiProcessor: return kThreadsPerUnit;
        case hipDeviceAttributeMaxRegistersPerBlock: return kRegistersPerBlock;
        case hipDeviceAttributeClockRate:
        case hipDeviceAttributeMemoryClockRate:
        case hipDeviceAttributeWallClockRate: return kClockKilohertz;
        case hipDeviceAttributeMemoryBusWidth: return kMemoryBusBits;
        case hipDeviceAttributeL2CacheSize: return kCacheBytes;
        case hipDeviceAttributeComputeCapabilityMajor: return 9;
        case hipDeviceAttributeComputeCapabilityMinor: return 4;
        case hipDeviceAttributeConcurrentKernels: return 0;
        case hipDeviceAttributeCooperativeLaunch: return 1;
        case hipDeviceAttributeManagedMemory: return 1;
        case hipDeviceAttributeMaxBlocksPerMultiProcessor: return 32;
    }
    return -1;
}

void fill_sizes(hipDeviceProp_t& p) {
    size_t unused;
    hipMemGetInfo(&unused, &p.totalGlobalMem);
    p.sharedMemPerBlock = device_facts().shared_bytes_by_default();
    p.sharedMemPerBlockOptin = device_facts().shared_bytes_per_block;
    p.sharedMemPerMultiprocessor = p.maxSharedMemoryPerMultiProcessor = device_facts().shared_bytes_per_block;
    p.totalConstMem = p.totalGlobalMem;
    p.memPitch = p.totalGlobalMem;
    p.regsPerBlock = p.regsPerMultiprocessor = kRegistersPerBlock;
    p.warpSize = int(device_facts().wavefront);
    p.maxThreadsPerBlock = int(device_facts().threads_per_block);
    for (int& dim : p.maxThreadsDim) dim = int(device_facts().threads_per_block);
    p.maxGridSize[0] = kMaxGridDim;
    p.maxGridSize[1] = p.maxGridSize[2] = kMaxGridDimYZ;
    p.maxThreadsPerMultiProcessor = kThreadsPerUnit;
    p.maxBlocksPerMultiProcessor = 32;
    p.cooperativeLaunch = 1;
}
}  // namespace

extern "C" {
hipError_t hipInit(unsigned) { return hipSuccess; }
hipError_t hipGetDeviceCount(int* count) {
    if (!count) return remember(hipErrorInvalidValue);
    *count = 1;
    return hipSuccess;
}
hipError_t hipGetDevice(int* device) {
    if (!device) return remember(hipErrorInvalidValue);
    *device = 0;
    return hipSuccess;
}
hipError_t hipSetDevice(int device) { return known(device); }
hipError_t hipDeviceGet(hipDevice_t* device, int ordinal) {
    if (!device) return remember(hipErrorInvalidValue);
    *device = ordinal;
    return known(ordinal);
}
hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int device) {
    if (!properties) return remember(hipErrorInvalidValue);
    if (device != 0) return remember(hipErrorInvalidDevice);
    *properties = {};
    hipDeviceProp_t& p = *properties;
    std::snprintf(p.name, sizeof(p.name), "Wavepool cpu device");
    std::snprintf(p.gcnArchName, sizeof(p.gcnArchName), "x86_64");
    fill_sizes(p);
    p.clockRate = p.clockInstructionRate = p.memoryClockRate = kClockKilohertz;
    p.memoryBusWidth = kMemoryBusBits;
    p.major = 9, p.minor = 4;
    p.multiProcessorCount = int(device_facts().compute_units);
    p.l2CacheSize = kCacheBytes;
    p.integrated = p.canMapHostMemory = p.managedMemory = p.concurrentManagedAccess = p.unifiedAddressing = 1;
    return hipSuccess;
}
hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int device) {
    if (!value || attribute_of(attribute) < 0) return remember(hipErrorInvalidValue);
    *value = attribute_of(attribute);
    return known(device);
}
hipError_t hipDeviceGetName(char* name, int length, hipDevice_t device) {
    if (!name || length <= 0) return remember(hipErrorInvalidValue);
    std::snprintf(name, size_t(length), "Wavepool cpu device");
    return known(device);
}
hipError_t hipDeviceReset() { return hipSuccess; }
hipError_t hipSetDeviceFlags(unsigned) { return hipSuccess; }
hipError_t hipDeviceSetCacheConfig(hipFuncCache_t) { return hipSuccess; }
hipError_t hipDeviceSetSharedMemConfig(hipSharedMemConfig) { return hipSuccess; }
hipError_t hipDriverGetVersion(int* version) {
    if (!version) return remember(hipErrorInvalidValue);
    *version = kRuntimeVersion;
    return hipSuccess;
}
hipError_t hipRuntimeGetVersion(int* version) { return hipDriverGetVersion(version); }
}
