// Where there is no GPU there is no device's clock. In a file of its own, so that the linker can put another in its place.
#include "spans.hpp"

#if !defined(__HIP__) && !defined(__CUDACC__)

extern "C" void wavepool_device_spans(wavepool::DeviceSpans* spans) { *spans = {}; }

#endif
