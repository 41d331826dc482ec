// Streams that are captured: what is asked of them becomes nodes of a graph.
#pragma once

#include "graph.h"

namespace wavepool::graphs {

// Whether a call on the stream is to be taken down, or refused, instead of performed: `take` does either. The default
// stream (null) is when any stream that waits for it is captured.
bool is_captured(hipStream_t stream);
hipError_t take(hipStream_t stream, Operation operation);
hipError_t take_event(hipStream_t stream, hipEvent_t event);
hipError_t take_wait(hipStream_t stream, hipEvent_t event);
// Whether the event was last recorded in a stream that is still captured.
bool is_captured(hipEvent_t event);
// Forgets it, as it was recorded elsewhere or destroyed.
void forget(hipEvent_t event);

// `error`, and all captures that the call offends are invalid, if a call that is not allowed in captures is made while
// there is one; else hipSuccess. Where `by_mode`, the thread's and the captures' modes decide.
hipError_t offence(hipError_t error, bool by_mode);
// The same for a call on one stream.
hipError_t offence(hipStream_t stream, hipError_t error);
hipError_t offence(hipEvent_t event);

void note_stream(hipStream_t stream, unsigned flags);
void forget(hipStream_t stream);

}  // namespace wavepool::graphs
