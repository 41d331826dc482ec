// What clang predefines when hipcc compiles for gfx942: host code and kernels take the branches that they take there.
#pragma once

// The host's pass has these too, as clang adds the other side's names.
#define __AMD__ 1
#define __AMDGCN__ 1
#define __AMDGPU__ 1
#define __AMDGCN_CUMODE__ 1
#define __HAS_FMAF__ 1
#define __HAS_FP64__ 1
#define __HAS_LDEXPF__ 1
#define FP_FAST_FMA 1

#if defined(__HIP_DEVICE_COMPILE__)
#define FP_FAST_FMAF 1
#define __GFX9__ 1
#define __HIP_NO_IMAGE_SUPPORT 1
#define __HIP_NO_IMAGE_SUPPORT__ 1
#define __amdgcn_processor__ "gfx942"
#define __amdgcn_target_id__ "gfx942"
#define __gfx942__ 1
#endif
