// hipCUB is CUB under another name.
#pragma once
#include <cub/cub.cuh>
#include <hip/hip_runtime.h>

namespace hipcub {
using namespace cub;

// CUB has given these up for the ones of cuda::std.
#define WAVEPOOL_OPERATION(name, result)                             \
  struct name {                                                      \
    template <typename A, typename B>                                \
    __host__ __device__ auto operator()(const A& a, const B& b) const { \
      return result;                                                 \
    }                                                                \
  };
WAVEPOOL_OPERATION(Difference, a - b)
WAVEPOOL_OPERATION(Division, a / b)
WAVEPOOL_OPERATION(Equality, a == b)
WAVEPOOL_OPERATION(Inequality, a != b)
WAVEPOOL_OPERATION(Max, b > a ? b : a)
WAVEPOOL_OPERATION(Min, b < a ? b : a)
WAVEPOOL_OPERATION(Sum, a + b)
#undef WAVEPOOL_OPERATION
}  // namespace hipcub
