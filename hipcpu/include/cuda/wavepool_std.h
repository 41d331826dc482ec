// cuda::std is the C++ library, whose headers are all read already.
#pragma once
#include "cuda_runtime.h"
namespace cuda {
namespace std = ::std;
}
