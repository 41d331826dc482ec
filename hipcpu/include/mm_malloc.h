// Clang's, declared for kernels too: some of it the prelude declared so already.
#pragma once

#pragma clang force_cuda_host_device begin
#include_next <mm_malloc.h>
#pragma clang force_cuda_host_device end
