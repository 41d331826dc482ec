// Cooperative groups within a block: thread_block, tiles, coalesced threads. Groups over the grid cannot synchronise.
#pragma once

#include "hip/hip_runtime.h"

#include "wavepool/block_groups.h"
#include "wavepool/tile_groups.h"

#include "wavepool/group_operations.h"
