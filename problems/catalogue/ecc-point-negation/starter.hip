#include <hip/hip_runtime.h>
#include <stdint.h>

// out_xy has xs[i] and (p - ys[i]) modulo p, one after the other.

__global__ void negate(const uint64_t* xs, const uint64_t* ys, uint64_t p, uint64_t* out_xy, size_t n) {
    // one thread's part of the work
}

extern "C" void solution(const uint64_t* xs, const uint64_t* ys, const uint64_t p, uint64_t* out_xy, size_t n) {
    // launch it: negate<<<blocks, threads>>>(...);
}
