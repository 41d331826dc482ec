#pragma once
#include "wavepool/host_api.h"
#include "wavepool/module_api.h"
#if defined(__cplusplus)
#include "wavepool/host_hints.h"
#include "wavepool/host_variants.h"
#include "wavepool/host_templates.h"
#endif
