// Cooperative groups within a block: thread_block, tiles, coalesced threads. Groups over the grid cannot synchronise.
#pragma once

#include "hip/hip_runtime.h"

#include "wavepool/groups/block_groups.h"
#include "wavepool/groups/tile_groups.h"

#include "wavepool/groups/group_operations.h"
