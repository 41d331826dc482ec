// The order that streams, events and a waiting host make.
#pragma once

#include <cstdint>

#include "wavepool/host/types.h"

namespace wavepool::recorder {

// The host waits for the stream (null: the default stream), or for all.
void synchronise_with(hipStream_t stream);
void synchronise_with_all();

}  // namespace wavepool::recorder
