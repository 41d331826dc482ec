// The driver API's types that sources name beside the runtime's; its functions are not there.
#pragma once
#include <cuda_runtime.h>
typedef hipStream_t CUstream;
typedef hipEvent_t CUevent;
typedef int CUdevice;
typedef hipError_t CUresult;
typedef unsigned long long CUdeviceptr;
#define CUDA_SUCCESS hipSuccess
