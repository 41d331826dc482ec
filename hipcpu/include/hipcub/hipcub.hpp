// hipCUB's and CUB's most used names. Wavefronts have 64 lanes by hipCUB's names, and 32 by CUB's.
#pragma once

#include "wavepool/groups/device_collectives.h"

#define HIPCUB_WARP_THREADS 64
#define HIPCUB_DEVICE_WARP_THREADS 64
#define CUB_PTX_WARP_THREADS 32

namespace hipcub {
#include "wavepool/groups/collective_names.inc"
template <class T, int Width = 64, int = 0> using WarpReduce = wp_collectives::WarpReduce<T, Width>;
template <class T, int Width = 64, int = 0> using WarpScan = wp_collectives::WarpScan<T, Width>;
}  // namespace hipcub

namespace cub {
#include "wavepool/groups/collective_names.inc"
template <class T, int Width = 32, int = 0> using WarpReduce = wp_collectives::WarpReduce<T, Width>;
template <class T, int Width = 32, int = 0> using WarpScan = wp_collectives::WarpScan<T, Width>;
}  // namespace cub
