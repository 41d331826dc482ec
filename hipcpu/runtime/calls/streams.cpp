// Streams and events. Everything runs at once and in issue order, so a stream is always idle and an event is a time.
#include <time.h>

#include "errors.h"
#include "../graphs/direct.h"

struct ihipStream_t {
    unsigned flags;
};

struct ihipEvent_t {
    bool recorded;
    double milliseconds;
};

namespace {
using wavepool::remember;

double now_milliseconds() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return double(now.tv_sec) * 1e3 + double(now.tv_nsec) * 1e-6;
}
}  // namespace

// What needs no more than these is in host_calls.cpp.
namespace wavepool::direct {
hipError_t hipDeviceSynchronize() { return hipSuccess; }
hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags) {
    if (!stream) return remember(hipErrorInvalidValue);
    *stream = new ihipStream_t{flags};
    return hipSuccess;
}
hipError_t hipStreamDestroy(hipStream_t stream) {
    if (!stream) return remember(hipErrorInvalidHandle);
    delete stream;
    return hipSuccess;
}
hipError_t hipStreamSynchronize(hipStream_t) { return hipSuccess; }
hipError_t hipStreamQuery(hipStream_t) { return hipSuccess; }
hipError_t hipStreamWaitEvent(hipStream_t, hipEvent_t event, unsigned) {
    return remember(event ? hipSuccess : hipErrorInvalidHandle);
}
hipError_t hipEventDestroy(hipEvent_t event) {
    if (!event) return remember(hipErrorInvalidHandle);
    delete event;
    return hipSuccess;
}
hipError_t hipEventRecord(hipEvent_t event, hipStream_t) {
    if (!event) return remember(hipErrorInvalidHandle);
    *event = {true, now_milliseconds()};
    return hipSuccess;
}
hipError_t hipEventSynchronize(hipEvent_t event) { return remember(event ? hipSuccess : hipErrorInvalidHandle); }
hipError_t hipEventQuery(hipEvent_t event) { return remember(event ? hipSuccess : hipErrorInvalidHandle); }
}  // namespace wavepool::direct

extern "C" {
hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned) {
    if (!event) return remember(hipErrorInvalidValue);
    *event = new ihipEvent_t{false, 0};
    return hipSuccess;
}
hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start, hipEvent_t stop) {
    if (!milliseconds || !start || !stop || !start->recorded || !stop->recorded) return remember(hipErrorInvalidHandle);
    *milliseconds = float(stop->milliseconds - start->milliseconds);
    return hipSuccess;
}
}
