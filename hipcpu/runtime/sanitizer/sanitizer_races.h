// Whether an access is ordered after what other threads did to the same bytes.
#pragma once

#include "sanitizer_memory.h"
#include "sanitizer_order.h"

namespace wavepool::sanitizer {

// Compares the running thread's access `now` with those before it, tells of races, and remembers it.
void check_races(Region& region, uintptr_t address, uint64_t bytes, Access now);

}  // namespace wavepool::sanitizer
