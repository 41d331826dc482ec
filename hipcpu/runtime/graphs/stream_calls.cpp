// The calls that captures concern: taken down on a captured stream, refused while one is captured, or performed.
#include "../calls/errors.h"
#include "capture.h"
#include "direct.h"

using namespace wavepool;
using namespace wavepool::graphs;

namespace {
hipError_t take_bytes(void* target, unsigned value, unsigned element_bytes, size_t count, hipStream_t stream,
                      const char* name = __builtin_FUNCTION()) {
    return remember(take(stream, hipMemsetParams{target, element_bytes, 1, 0, value, count}), name);
}

// Allocations in graphs are of the memory pools.
hipError_t refuse_memory(hipStream_t stream, const char* name = __builtin_FUNCTION()) {
    const hipError_t error = offence(stream, hipErrorStreamCaptureUnsupported);
    explain("memory is not allocated or freed in graphs on the cpu device: allocate before hipStreamBeginCapture, and "
            "free after the last hipGraphLaunch");
    return remember(error, name);
}
}  // namespace

extern "C" {
#define WAVEPOOL_DEFINE(error, by_mode, name, parameters, arguments)                            \
    hipError_t name parameters {                                                                \
        if (hipError_t refused = offence(error, by_mode)) return remember(refused);             \
        return direct::name arguments;                                                          \
    }
WAVEPOOL_NOT_CAPTURED(WAVEPOOL_DEFINE)

hipError_t hipMallocAsync(void** p, size_t n, hipStream_t stream) {
    return is_captured(stream) ? refuse_memory(stream) : direct::hipMallocAsync(p, n, stream);
}
hipError_t hipFreeAsync(void* p, hipStream_t stream) {
    return is_captured(stream) ? refuse_memory(stream) : direct::hipFreeAsync(p, stream);
}
hipError_t hipMemcpyAsync(void* t, const void* s, size_t n, hipMemcpyKind kind, hipStream_t stream) {
    if (n && is_captured(stream)) return remember(take(stream, copy_of(t, n, s, n, n, 1, kind)));
    return direct::hipMemcpyAsync(t, s, n, kind, stream);
}
hipError_t hipMemcpy2DAsync(void* t, size_t tp, const void* s, size_t sp, size_t w, size_t h, hipMemcpyKind kind,
                            hipStream_t stream) {
    if (w && h && is_captured(stream)) return remember(take(stream, copy_of(t, tp, s, sp, w, h, kind)));
    return direct::hipMemcpy2DAsync(t, tp, s, sp, w, h, kind, stream);
}
hipError_t hipMemsetAsync(void* t, int value, size_t n, hipStream_t stream) {
    return hipMemsetD8Async(t, static_cast<unsigned char>(value), n, stream);
}
hipError_t hipMemset2DAsync(void* t, size_t pitch, int value, size_t w, size_t h, hipStream_t stream) {
    if (w && h && is_captured(stream))
        return remember(take(stream, hipMemsetParams{t, 1, h, pitch, unsigned(value) & 255, w}));
    for (size_t row = 0; row < h; ++row)
        if (hipError_t error = hipMemsetAsync(static_cast<char*>(t) + row * pitch, value, w, stream)) return error;
    return hipSuccess;
}
hipError_t hipMemsetD8Async(hipDeviceptr_t t, unsigned char value, size_t n, hipStream_t stream) {
    if (n && is_captured(stream)) return take_bytes(t, value, sizeof value, n, stream);
    return direct::hipMemsetD8Async(t, value, n, stream);
}
hipError_t hipMemsetD16Async(hipDeviceptr_t t, unsigned short value, size_t n, hipStream_t stream) {
    if (n && is_captured(stream)) return take_bytes(t, value, sizeof value, n, stream);
    return direct::hipMemsetD16Async(t, value, n, stream);
}
hipError_t hipMemsetD32Async(hipDeviceptr_t t, int value, size_t n, hipStream_t stream) {
    if (n && is_captured(stream)) return take_bytes(t, unsigned(value), sizeof value, n, stream);
    return direct::hipMemsetD32Async(t, value, n, stream);
}
hipError_t hipMemcpyToSymbolAsync(const void* symbol, const void* s, size_t n, size_t offset, hipMemcpyKind kind,
                                  hipStream_t stream) {
    if (is_captured(stream)) return remember(take(stream, ToSymbol{symbol, s, n, offset, kind}));
    return direct::hipMemcpyToSymbolAsync(symbol, s, n, offset, kind, stream);
}
hipError_t hipMemcpyFromSymbolAsync(void* t, const void* symbol, size_t n, size_t offset, hipMemcpyKind kind,
                                    hipStream_t stream) {
    if (is_captured(stream)) return remember(take(stream, FromSymbol{t, symbol, n, offset, kind}));
    return direct::hipMemcpyFromSymbolAsync(t, symbol, n, offset, kind, stream);
}

hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t function, void* user_data) {
    if (!function) return remember(hipErrorInvalidValue);
    if (is_captured(stream)) return remember(take(stream, hipHostNodeParams{function, user_data}));
    function(user_data);
    return hipSuccess;
}
hipError_t hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t callback, void* user_data, unsigned) {
    if (!callback) return remember(hipErrorInvalidValue);
    if (is_captured(stream)) return remember(offence(stream, hipErrorStreamCaptureUnsupported));
    callback(stream, hipSuccess, user_data);
    return hipSuccess;
}

hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags) {
    const hipError_t error = direct::hipStreamCreateWithFlags(stream, flags);
    if (error == hipSuccess) note_stream(*stream, flags);
    return error;
}
hipError_t hipStreamDestroy(hipStream_t stream) {
    forget(stream);
    return direct::hipStreamDestroy(stream);
}
hipError_t hipStreamSynchronize(hipStream_t stream) {
    if (hipError_t refused = offence(stream, hipErrorStreamCaptureUnsupported)) return remember(refused);
    return direct::hipStreamSynchronize(stream);
}
hipError_t hipStreamQuery(hipStream_t stream) {
    if (hipError_t refused = offence(stream, hipErrorStreamCaptureUnsupported)) return remember(refused);
    return direct::hipStreamQuery(stream);
}
// An event of a capture brings the stream that waits for it into the capture.
hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags) {
    if (!event) return remember(hipErrorInvalidHandle);
    if (is_captured(stream) && flags == hipEventWaitExternal) return remember(take(stream, EventWait{event}));
    if (is_captured(stream) || is_captured(event)) return remember(take_wait(stream, event));
    return direct::hipStreamWaitEvent(stream, event, flags);
}
hipError_t hipEventRecordWithFlags(hipEvent_t event, hipStream_t stream, unsigned flags) {
    if (!event) return remember(hipErrorInvalidHandle);
    if (is_captured(stream) && flags == hipEventRecordExternal) return remember(take(stream, EventRecord{event}));
    if (is_captured(stream)) return remember(take_event(stream, event));
    forget(event);
    return direct::hipEventRecord(event, stream);
}
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
    return hipEventRecordWithFlags(event, stream, hipEventRecordDefault);
}
hipError_t hipEventDestroy(hipEvent_t event) {
    forget(event);
    return direct::hipEventDestroy(event);
}
hipError_t hipEventSynchronize(hipEvent_t event) {
    if (hipError_t refused = offence(event)) return remember(refused);
    if (hipError_t refused = offence(hipErrorStreamCaptureUnsupported, true)) return remember(refused);
    return direct::hipEventSynchronize(event);
}
hipError_t hipEventQuery(hipEvent_t event) {
    if (hipError_t refused = offence(event)) return remember(refused);
    return direct::hipEventQuery(event);
}
}
