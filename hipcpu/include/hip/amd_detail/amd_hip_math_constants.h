#pragma once
#include "hip/hip_math_constants.h"
