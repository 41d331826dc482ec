// problem: huber-loss
// float2 by make_float2, a helper in a namespace, a switch on a template flag.
#include <hip/hip_runtime.h>

namespace loss {
__device__ __forceinline__ float huber(float p, float t) {
    const float d = fabsf(p - t);
    return d < 1.0f ? 0.5f * d * d : d - 0.5f;
}
}  // namespace loss

template <bool PAIRS>
__global__ void huber_kernel(const float* p, const float* t, float* out, size_t n) {
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if constexpr (PAIRS) {
        if (2 * i + 1 >= n) return;
        const float2 a = make_float2(p[2 * i], p[2 * i + 1]), b = make_float2(t[2 * i], t[2 * i + 1]);
        out[2 * i] = loss::huber(a.x, b.x);
        out[2 * i + 1] = loss::huber(a.y, b.y);
    } else {
        if (i < n) out[i] = loss::huber(p[i], t[i]);
    }
}

extern "C" void solution(const float* predictions, const float* targets, float* output, size_t n) {
    if (n % 2 == 0)
        huber_kernel<true><<<(n / 2 + 255) / 256, 256>>>(predictions, targets, output, n);
    else
        huber_kernel<false><<<(n + 255) / 256, 256>>>(predictions, targets, output, n);
}
