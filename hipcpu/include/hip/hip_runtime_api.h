#pragma once
#include "hip/hip_version.h"
#include "wavepool/host/api.h"
#include "wavepool/host/module_api.h"
#if defined(__cplusplus)
#include "wavepool/host/graphs.h"
#include "wavepool/host/hints.h"
#include "wavepool/host/variants.h"
#include "wavepool/host/templates.h"
#endif
