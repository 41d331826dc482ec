// What HIP launches with more arguments; hip_runtime.h has all of it.
#pragma once

#include "hip_runtime.h"
