// Streams and events, recorded. A stream's handle is its number, which is never given twice; the default stream is 0.
#include "streams.h"

#include <atomic>

#include "../calls/errors.h"
#include "record.h"
#include "../graphs/direct.h"

namespace wavepool::recorder {
namespace {
std::atomic<uint64_t> streams{0}, events{0};

uint64_t number_of(const void* handle) { return reinterpret_cast<uint64_t>(handle); }
}  // namespace

void synchronise_with(hipStream_t stream) { Record(Kind::kSynchronise).number(1 + number_of(stream)); }
void synchronise_with_all() { Record(Kind::kSynchronise).number(0); }
}  // namespace wavepool::recorder

using namespace wavepool;
using namespace wavepool::recorder;

namespace wavepool::direct {
hipError_t hipDeviceSynchronize() { return synchronise_with_all(), hipSuccess; }
hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags) {
    if (!stream) return remember(hipErrorInvalidValue);
    const uint64_t number = ++streams;
    *stream = reinterpret_cast<hipStream_t>(number);
    Record(Kind::kStream).number(number).number(flags);
    return hipSuccess;
}
hipError_t hipStreamDestroy(hipStream_t stream) { return remember(stream ? hipSuccess : hipErrorInvalidHandle); }
hipError_t hipStreamSynchronize(hipStream_t stream) { return synchronise_with(stream), hipSuccess; }
hipError_t hipStreamQuery(hipStream_t) { return hipSuccess; }
hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned) {
    if (!event) return remember(hipErrorInvalidHandle);
    Record(Kind::kWait).number(number_of(stream)).number(number_of(event));
    return hipSuccess;
}
hipError_t hipEventDestroy(hipEvent_t event) { return remember(event ? hipSuccess : hipErrorInvalidHandle); }
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
    if (!event) return remember(hipErrorInvalidHandle);
    Record(Kind::kEvent).number(number_of(event)).number(number_of(stream));
    return hipSuccess;
}
// What the event was noted behind is not known here, so it is all.
hipError_t hipEventSynchronize(hipEvent_t event) {
    if (!event) return remember(hipErrorInvalidHandle);
    return synchronise_with_all(), hipSuccess;
}
hipError_t hipEventQuery(hipEvent_t event) { return remember(event ? hipSuccess : hipErrorInvalidHandle); }
}  // namespace wavepool::direct

extern "C" {
hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned) {
    if (!event) return remember(hipErrorInvalidValue);
    *event = reinterpret_cast<hipEvent_t>(++events);
    return hipSuccess;
}
// No time passes while a plan is recorded.
hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start, hipEvent_t stop) {
    if (!milliseconds || !start || !stop) return remember(hipErrorInvalidHandle);
    *milliseconds = 0;
    return hipSuccess;
}
}
