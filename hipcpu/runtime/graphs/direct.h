// Calls that a captured stream takes down, or that captures forbid (stream_calls.cpp), as a back end performs them
// otherwise: ../calls runs them, and ../recorder notes them.
#pragma once

#include "wavepool/host/api.h"

namespace wavepool::direct {
// Each with what a capture makes of it: the error, and whether the captures' modes decide.
#define WAVEPOOL_NOT_CAPTURED(F)                                                                                       \
    F(hipErrorStreamCaptureUnsupported, true, hipMalloc, (void** p, size_t n), (p, n))                                 \
    F(hipErrorStreamCaptureUnsupported, true, hipMallocManaged, (void** p, size_t n, unsigned flags), (p, n, flags))   \
    F(hipErrorStreamCaptureUnsupported, true, hipExtMallocWithFlags, (void** p, size_t n, unsigned flags),             \
      (p, n, flags))                                                                                                   \
    F(hipErrorStreamCaptureUnsupported, true, hipHostMalloc, (void** p, size_t n, unsigned flags), (p, n, flags))      \
    F(hipErrorStreamCaptureUnsupported, true, hipMallocPitch, (void** p, size_t* pitch, size_t width, size_t height),  \
      (p, pitch, width, height))                                                                                       \
    F(hipErrorStreamCaptureUnsupported, true, hipFree, (void* p), (p))                                                 \
    F(hipErrorStreamCaptureUnsupported, true, hipHostFree, (void* p), (p))                                             \
    F(hipErrorStreamCaptureUnsupported, true, hipHostRegister, (void* p, size_t n, unsigned flags), (p, n, flags))     \
    F(hipErrorStreamCaptureUnsupported, false, hipDeviceSynchronize, (), ())                                           \
    F(hipErrorStreamCaptureImplicit, false, hipMemcpy, (void* t, const void* s, size_t n, hipMemcpyKind kind),         \
      (t, s, n, kind))                                                                                                 \
    F(hipErrorStreamCaptureImplicit, false, hipMemcpyHtoD, (hipDeviceptr_t t, void* s, size_t n), (t, s, n))           \
    F(hipErrorStreamCaptureImplicit, false, hipMemcpyDtoH, (void* t, hipDeviceptr_t s, size_t n), (t, s, n))           \
    F(hipErrorStreamCaptureImplicit, false, hipMemcpyDtoD, (hipDeviceptr_t t, hipDeviceptr_t s, size_t n), (t, s, n))  \
    F(hipErrorStreamCaptureImplicit, false, hipMemcpy2D,                                                               \
      (void* t, size_t tp, const void* s, size_t sp, size_t w, size_t h, hipMemcpyKind kind),                          \
      (t, tp, s, sp, w, h, kind))                                                                                      \
    F(hipErrorStreamCaptureImplicit, false, hipMemset, (void* t, int value, size_t n), (t, value, n))                  \
    F(hipErrorStreamCaptureImplicit, false, hipMemsetD8, (hipDeviceptr_t t, unsigned char value, size_t n),            \
      (t, value, n))                                                                                                   \
    F(hipErrorStreamCaptureImplicit, false, hipMemsetD16, (hipDeviceptr_t t, unsigned short value, size_t n),          \
      (t, value, n))                                                                                                   \
    F(hipErrorStreamCaptureImplicit, false, hipMemsetD32, (hipDeviceptr_t t, int value, size_t n), (t, value, n))      \
    F(hipErrorStreamCaptureImplicit, false, hipMemcpyToSymbol,                                                         \
      (const void* symbol, const void* s, size_t n, size_t offset, hipMemcpyKind kind), (symbol, s, n, offset, kind))  \
    F(hipErrorStreamCaptureImplicit, false, hipMemcpyFromSymbol,                                                       \
      (void* t, const void* symbol, size_t n, size_t offset, hipMemcpyKind kind), (t, symbol, n, offset, kind))

#define WAVEPOOL_DECLARE(error, by_mode, name, parameters, arguments) hipError_t name parameters;
WAVEPOOL_NOT_CAPTURED(WAVEPOOL_DECLARE)
#undef WAVEPOOL_DECLARE

hipError_t hipMallocAsync(void** p, size_t n, hipStream_t stream);
hipError_t hipFreeAsync(void* p, hipStream_t stream);
hipError_t hipMemcpyAsync(void* t, const void* s, size_t n, hipMemcpyKind kind, hipStream_t stream);
hipError_t hipMemcpy2DAsync(void* t, size_t tp, const void* s, size_t sp, size_t w, size_t h, hipMemcpyKind kind,
                            hipStream_t stream);
hipError_t hipMemsetD8Async(hipDeviceptr_t t, unsigned char value, size_t n, hipStream_t stream);
hipError_t hipMemsetD16Async(hipDeviceptr_t t, unsigned short value, size_t n, hipStream_t stream);
hipError_t hipMemsetD32Async(hipDeviceptr_t t, int value, size_t n, hipStream_t stream);
hipError_t hipMemcpyToSymbolAsync(const void* symbol, const void* s, size_t n, size_t offset, hipMemcpyKind kind,
                                  hipStream_t stream);
hipError_t hipMemcpyFromSymbolAsync(void* t, const void* symbol, size_t n, size_t offset, hipMemcpyKind kind,
                                    hipStream_t stream);

hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags);
hipError_t hipStreamDestroy(hipStream_t stream);
hipError_t hipStreamSynchronize(hipStream_t stream);
hipError_t hipStreamQuery(hipStream_t stream);
hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags);
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream);
hipError_t hipEventDestroy(hipEvent_t event);
hipError_t hipEventSynchronize(hipEvent_t event);
hipError_t hipEventQuery(hipEvent_t event);
}  // namespace wavepool::direct
