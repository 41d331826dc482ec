#include "errors.h"

#include <cstdarg>
#include <cstdio>

#include "wavepool/host/api.h"

namespace wavepool {
namespace {
thread_local hipError_t last_error = hipSuccess;
thread_local char reason[160];   // of the error that comes next
thread_local char refusal[256];  // the last error in words

struct ErrorText {
    hipError_t error;
    const char* name;
    const char* text;
};

constexpr ErrorText kTexts[] = {
    {hipSuccess, "hipSuccess", "no error"},
    {hipErrorInvalidValue, "hipErrorInvalidValue", "invalid argument"},
    {hipErrorOutOfMemory, "hipErrorOutOfMemory", "out of memory"},
    {hipErrorNotInitialized, "hipErrorNotInitialized", "initialization error"},
    {hipErrorInvalidConfiguration, "hipErrorInvalidConfiguration", "invalid configuration argument"},
    {hipErrorInvalidSymbol, "hipErrorInvalidSymbol", "invalid device symbol"},
    {hipErrorInvalidDevicePointer, "hipErrorInvalidDevicePointer", "invalid device pointer"},
    {hipErrorInvalidMemcpyDirection, "hipErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
    {hipErrorInvalidDeviceFunction, "hipErrorInvalidDeviceFunction", "invalid device function"},
    {hipErrorNoDevice, "hipErrorNoDevice", "no ROCm-capable device is detected"},
    {hipErrorInvalidDevice, "hipErrorInvalidDevice", "invalid device ordinal"},
    {hipErrorInvalidHandle, "hipErrorInvalidHandle", "invalid resource handle"},
    {hipErrorNotFound, "hipErrorNotFound", "named symbol not found"},
    {hipErrorNotReady, "hipErrorNotReady", "device not ready"},
    {hipErrorIllegalAddress, "hipErrorIllegalAddress", "an illegal memory access was encountered"},
    {hipErrorLaunchFailure, "hipErrorLaunchFailure", "unspecified launch failure"},
    {hipErrorCooperativeLaunchTooLarge, "hipErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch"},
    {hipErrorNotSupported, "hipErrorNotSupported", "operation not supported"},
    {hipErrorIllegalState, "hipErrorIllegalState", "the operation cannot be performed in the present state"},
    {hipErrorStreamCaptureUnsupported, "hipErrorStreamCaptureUnsupported", "not permitted while a stream is capturing"},
    {hipErrorStreamCaptureInvalidated, "hipErrorStreamCaptureInvalidated", "an earlier error invalidated the capture"},
    {hipErrorStreamCaptureMerge, "hipErrorStreamCaptureMerge", "would merge two captures"},
    {hipErrorStreamCaptureUnmatched, "hipErrorStreamCaptureUnmatched", "the capture began on another stream"},
    {hipErrorStreamCaptureUnjoined, "hipErrorStreamCaptureUnjoined", "the capture has work that was not joined"},
    {hipErrorStreamCaptureIsolation, "hipErrorStreamCaptureIsolation", "a dependency would leave the capture"},
    {hipErrorStreamCaptureImplicit, "hipErrorStreamCaptureImplicit", "would depend on a capture implicitly"},
    {hipErrorCapturedEvent, "hipErrorCapturedEvent", "the event was last recorded in a capturing stream"},
    {hipErrorStreamCaptureWrongThread, "hipErrorStreamCaptureWrongThread", "another thread began the capture"},
    {hipErrorGraphExecUpdateFailure, "hipErrorGraphExecUpdateFailure", "the graph differs too much for an update"},
    {hipErrorUnknown, "hipErrorUnknown", "unknown error"},
};

const ErrorText& text_of(hipError_t error) {
    for (const ErrorText& text : kTexts)
        if (text.error == error) return text;
    return kTexts[sizeof(kTexts) / sizeof(kTexts[0]) - 1];
}
}  // namespace

hipError_t remember(hipError_t error, const char* function) {
    if (error != hipSuccess) {
        last_error = error;
        const char* why = reason[0] ? reason : text_of(error).text;
        std::snprintf(refusal, sizeof refusal, "%s gave %s: %s", function, text_of(error).name, why);
    }
    reason[0] = '\0';
    return error;
}

void explain(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
}
}  // namespace wavepool

extern "C" {
const char* __wp_last_refusal() { return wavepool::refusal; }
hipError_t hipGetLastError() {
    hipError_t error = wavepool::last_error;
    wavepool::last_error = hipSuccess;
    return error;
}
hipError_t hipPeekAtLastError() { return wavepool::last_error; }
const char* hipGetErrorString(hipError_t error) { return wavepool::text_of(error).text; }
const char* hipGetErrorName(hipError_t error) { return wavepool::text_of(error).name; }
}
