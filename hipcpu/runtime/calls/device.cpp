// The one device there is, and what it says about itself.
#include <cstdio>
#include <cstring>

#include "device_facts.h"
#include "device_properties.h"
#include "errors.h"
#include "hip/hip_version.h"
#include "launch_limits.h"
#include "wavepool/host/api.h"

using namespace wavepool;

namespace {
// As an MI300X answers; the cpu device's own numbers are the memory, the compute units and the name.
constexpr int kThreadsPerUnit = 2048;
constexpr int kRegistersPerBlock = 65536;
constexpr int kClockKilohertz = 2100000;
constexpr int kCacheBytes = 4 << 20;
constexpr int kMemoryBusBits = 8192;

bool tell_by_gpu(hipDeviceProp_t& p) {
    bool is_told = false;
#define TELL(field) is_told = told_by_gpu(#field, &p.field, sizeof p.field);
    WAVEPOOL_PROPERTIES(TELL)
#undef TELL
    return is_told;
}

const char* name_of(hipDeviceAttribute_t attribute) {
    switch (attribute) {
#define NAME(attribute) \
    case attribute: return #attribute;
        WAVEPOOL_ATTRIBUTES(NAME)
        WAVEPOOL_ATTRIBUTES_OF_ROCM(NAME)
#undef NAME
    }
    return "attribute of a number that we do not know";
}

hipError_t known(int device) {
    if (device != 0) wavepool_only_a_gpu_knows("a device other than 0", "use device 0");
    return remember(device == 0 ? hipSuccess : hipErrorInvalidDevice);
}

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
    if (!told_by_gpu("deviceCount", count, sizeof *count)) *count = 1;
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
    if (known(device) != hipSuccess) return hipErrorInvalidDevice;
    *properties = {};
    hipDeviceProp_t& p = *properties;
    if (tell_by_gpu(p)) return hipSuccess;
    std::snprintf(p.name, sizeof(p.name), "Wavepool cpu device");
    std::snprintf(p.gcnArchName, sizeof(p.gcnArchName), "gfx942:sramecc+:xnack-");
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
    if (value && device == 0 && told_by_gpu(name_of(attribute), value, sizeof *value)) return hipSuccess;
    if (!value || attribute_of(attribute) < 0) return remember(hipErrorInvalidValue);
    *value = attribute_of(attribute);
    return known(device);
}
hipError_t hipDeviceGetName(char* name, int length, hipDevice_t device) {
    if (!name || length <= 0) return remember(hipErrorInvalidValue);
    char whole[sizeof(hipDeviceProp_t::name)] = "Wavepool cpu device";
    told_by_gpu("name", whole, sizeof whole);
    std::snprintf(name, size_t(length), "%s", whole);
    return known(device);
}
hipError_t hipDeviceReset() { return hipSuccess; }
hipError_t hipSetDeviceFlags(unsigned) { return hipSuccess; }
hipError_t hipDeviceSetCacheConfig(hipFuncCache_t) { return hipSuccess; }
hipError_t hipDeviceSetSharedMemConfig(hipSharedMemConfig) { return hipSuccess; }
hipError_t hipDriverGetVersion(int* version) {
    if (!version) return remember(hipErrorInvalidValue);
    if (!told_by_gpu("driverVersion", version, sizeof *version)) *version = HIP_VERSION;
    return hipSuccess;
}
hipError_t hipRuntimeGetVersion(int* version) {
    if (!version) return remember(hipErrorInvalidValue);
    if (!told_by_gpu("runtimeVersion", version, sizeof *version)) *version = HIP_VERSION;
    return hipSuccess;
}
}
