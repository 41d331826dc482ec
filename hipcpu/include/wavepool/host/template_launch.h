// hipLaunchKernelGGL as a function, for sources that define HIP_TEMPLATE_KERNEL_LAUNCH: a kernel with several template
// arguments needs no parentheses then.
#pragma once

#include "wavepool/host/templates.h"

#undef hipLaunchKernelGGL

template <class... P, class... A>
__host__ inline void wp_launch_as_declared(void (*kernel)(P...), const dim3& grid, const dim3& block,
                                           uint32_t shared_bytes, hipStream_t stream, A... arguments) {
    static_assert(sizeof...(P) == sizeof...(A), "the kernel has another number of parameters");
    [&](P... values) {
        void* addresses[] = {static_cast<void*>(&values)..., nullptr};
        (void)hipLaunchKernel(kernel, grid, block, addresses, shared_bytes, stream);
    }(static_cast<P>(arguments)...);
}
// As HIP's: what names a template, and no kernel, becomes the one that takes these arguments.
template <class... A, class F = void (*)(A...)>
__host__ inline void hipLaunchKernelGGL(F kernel, const dim3& grid, const dim3& block, uint32_t shared_bytes,
                                        hipStream_t stream, A... arguments) {
    wp_launch_as_declared(kernel, grid, block, shared_bytes, stream, arguments...);
}
