#pragma once
#include <cuda_runtime.h>
#include <hipcub/hipcub.hpp>

// ROCm's hipCUB leaves out CUB's namespace, in which wavefronts have 32 lanes.
#if defined(HIPCUB_VERSION)
namespace cub {
using namespace hipcub;
template <class T, int Width = 32, int Architecture = 0> using WarpReduce = hipcub::WarpReduce<T, Width>;
template <class T, int Width = 32, int Architecture = 0> using WarpScan = hipcub::WarpScan<T, Width>;
}  // namespace cub
#endif
