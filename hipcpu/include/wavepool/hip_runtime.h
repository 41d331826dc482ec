// HIP for the `cpu` device. Device parts exist only where clang compiles HIP.
#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "hip/hip_runtime_api.h"

#if defined(__HIP__)
#include "wavepool/threads/thread_index.h"
#include "wavepool/threads/synchronisation.h"
#include "wavepool/threads/cross_lane.h"
#include "wavepool/threads/atomics.h"
#include "wavepool/threads/vector_atomics.h"
#include "wavepool/math/integer_math.h"
#include "wavepool/math/packed_integers.h"
#include "wavepool/math/float_math.h"
#include "wavepool/math/directed_rounding.h"
#include "wavepool/math/inverse_functions.h"
#include "wavepool/threads/amd_instructions.h"
#include "wavepool/threads/fp8_instructions.h"
#include "wavepool/threads/matrix_instructions.h"
#include "wavepool/math/device_libs.h"
#include "wavepool/threads/device_libs.h"
#include "wavepool/threads/memory_access.h"
#include "wavepool/math/vector_math.h"
#endif
