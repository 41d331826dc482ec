// HIP for the `cpu` device: what people include. Device parts exist only where clang compiles HIP.
#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "hip/hip_runtime_api.h"

#if defined(__HIP__)
#include "wavepool/thread_index.h"
#include "wavepool/synchronisation.h"
#include "wavepool/cross_lane.h"
#include "wavepool/atomics.h"
#include "wavepool/vector_atomics.h"
#include "wavepool/integer_math.h"
#include "wavepool/packed_integers.h"
#include "wavepool/float_math.h"
#include "wavepool/directed_rounding.h"
#include "wavepool/inverse_functions.h"
#include "wavepool/amd_instructions.h"
#include "wavepool/memory_access.h"
#include "wavepool/vector_math.h"
#endif
