#pragma once
#include <hip/hip_bf16.h>

using hip_bfloat16 = __nv_bfloat16;
