// HIP has no separate math headers here.
#pragma once
#include "hip/hip_runtime.h"
