// Without a GPU there is no device clock. This is a separate file, so that the linker can replace it by another.
#include "spans.hpp"

#if !defined(__HIP__) && !defined(__CUDACC__)

extern "C" void wavepool_device_spans(wavepool::DeviceSpans* spans) { *spans = {}; }

#endif
