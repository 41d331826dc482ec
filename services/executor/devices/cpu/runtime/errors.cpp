#include "errors.h"

#include "wavepool/host_api.h"

namespace wavepool {
namespace {
thread_local hipError_t last_error = hipSuccess;

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
    {hipErrorUnknown, "hipErrorUnknown", "unknown error"},
};

const ErrorText& text_of(hipError_t error) {
    for (const ErrorText& text : kTexts)
        if (text.error == error) return text;
    return kTexts[sizeof(kTexts) / sizeof(kTexts[0]) - 1];
}
}  // namespace

hipError_t remember(hipError_t error) {
    if (error != hipSuccess) last_error = error;
    return error;
}
}  // namespace wavepool

extern "C" {
hipError_t hipGetLastError() {
    hipError_t error = wavepool::last_error;
    wavepool::last_error = hipSuccess;
    return error;
}
hipError_t hipPeekAtLastError() { return wavepool::last_error; }
const char* hipGetErrorString(hipError_t error) { return wavepool::text_of(error).text; }
const char* hipGetErrorName(hipError_t error) { return wavepool::text_of(error).name; }
}
