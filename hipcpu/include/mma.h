// NVIDIA's matrix fragments, of which there are none: sources that only include this header compile.
#pragma once
#include <cuda_fp16.h>
namespace nvcuda {
namespace wmma {}
}  // namespace nvcuda
