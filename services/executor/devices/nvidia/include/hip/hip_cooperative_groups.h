#pragma once
// In this order.
#include <wavepool/votes_off.h>

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <wavepool/votes_on.h>
