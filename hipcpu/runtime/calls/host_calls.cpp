// Calls of the host API that are the same whether kernels run or are recorded: the rest of it has a file for each, here
// and in recorder/.
#include "device_facts.h"
#include "errors.h"
#include "registry.h"
#include "wavepool/host/api.h"

using namespace wavepool;

extern "C" {
hipError_t hipStreamCreate(hipStream_t* stream) { return hipStreamCreateWithFlags(stream, hipStreamDefault); }
hipError_t hipStreamCreateWithPriority(hipStream_t* stream, unsigned flags, int) {
    return hipStreamCreateWithFlags(stream, flags);
}
hipError_t hipDeviceGetStreamPriorityRange(int* least, int* greatest) {
    int range[2] = {0, 0};
    told_by_gpu("streamPriorityRange", range, sizeof range);
    if (least) *least = range[0];
    if (greatest) *greatest = range[1];
    return hipSuccess;
}
hipError_t hipEventCreate(hipEvent_t* event) { return hipEventCreateWithFlags(event, hipEventDefault); }

hipError_t hipHostUnregister(void* p) { return remember(p ? hipSuccess : hipErrorInvalidValue); }
hipError_t hipHostGetDevicePointer(void** device, void* host, unsigned) {
    if (!device) return remember(hipErrorInvalidValue);
    *device = host;
    return hipSuccess;
}
hipError_t hipMemset2D(void* target, size_t pitch, int value, size_t width, size_t height) {
    for (size_t row = 0; row < height; ++row)
        if (hipError_t error = hipMemset(static_cast<char*>(target) + row * pitch, value, width)) return error;
    return hipSuccess;
}
hipError_t hipGetSymbolSize(size_t* bytes, const void* symbol) {
    const VariableEntry* variable = variable_of(symbol);
    if (!variable || !bytes) return remember(variable ? hipErrorInvalidValue : hipErrorInvalidSymbol);
    *bytes = variable->bytes;
    return hipSuccess;
}
}
