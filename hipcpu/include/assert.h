// The C library's, declared for kernels too as the prelude did. Read anew each time: NDEBUG may have changed.
#pragma clang force_cuda_host_device begin
#include_next <assert.h>
#pragma clang force_cuda_host_device end
