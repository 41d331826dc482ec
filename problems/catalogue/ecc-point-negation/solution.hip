#include <hip/hip_runtime.h>
#include <stdint.h>

__global__ void negate(const uint64_t* xs, const uint64_t* ys, uint64_t p, ulonglong2* points, size_t n) {
    const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
    if (i >= n) return;
    const uint64_t y = ys[i];
    points[i] = make_ulonglong2(xs[i], y == 0 ? 0 : p - y);
}

extern "C" void solution(const uint64_t* xs, const uint64_t* ys, const uint64_t p, uint64_t* out_xy, size_t n) {
    const unsigned threads = 256;
    negate<<<static_cast<unsigned>((n + threads - 1) / threads), threads>>>(
        xs, ys, p, reinterpret_cast<ulonglong2*>(out_xy), n);
}
