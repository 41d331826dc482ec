// Each template for lanes of a wavefront and for atomic operations, with masks of 32 and of 64 lanes.
#include <hip/hip_runtime.h>

template <class M> __device__ unsigned long long voted(M mask, int value, unsigned wide) {
    int all = 0;
    unsigned long long sum = __ballot_sync(mask, value) + __any_sync(mask, value) + __all_sync(mask, value);
    sum += __uni_sync(mask, value) + __match_any_sync(mask, value) + __match_all_sync(mask, wide, &all) + all;
    __syncwarp(mask);
    sum += __shfl_sync(mask, value, 1) + __shfl_up_sync(mask, value, 1) + __shfl_down_sync(mask, value, 1, 16);
    sum += __shfl_xor_sync(mask, value, 1, 32);
    sum += __reduce_add_sync(mask, wide) + __reduce_min_sync(mask, value) + __reduce_max_sync(mask, value);
    return sum + __reduce_and_sync(mask, wide) + __reduce_or_sync(mask, wide) + __reduce_xor_sync(mask, wide);
}
__global__ void waves(unsigned long long* out, const int* in) {
    int value = in[threadIdx.x];
    unsigned long long sum = voted(0xffffffffu, value, value) + voted(~0ull, value, value);
    __syncwarp();
    sum += __match_any(value) + __match_any(double(value)) + __ballot(value) + __any(value) + __all(value) + __activemask();
    float moved = __shfl(float(value), 3) + __shfl_up(1.5f, 2) + __shfl_down(2.5f, 4) + __shfl_xor(double(value), 8);
    out[threadIdx.x] = sum + (unsigned long long)moved;
}

#define WITH_SCOPES(NAME, ...) NAME(__VA_ARGS__), NAME##_system(__VA_ARGS__), NAME##_block(__VA_ARGS__)
template <class T> __device__ void combined(T* p) {
    WITH_SCOPES(atomicAdd, p, 1), WITH_SCOPES(atomicSub, p, 1), WITH_SCOPES(atomicMax, p, 1);
    WITH_SCOPES(atomicMin, p, 1), WITH_SCOPES(atomicExch, p, 1), WITH_SCOPES(atomicCAS, p, 1, 2);
}
__global__ void atomics(int* a, unsigned* b, unsigned long long* c, float* d, double* e) {
    combined(a), combined(b), combined(c);
    WITH_SCOPES(atomicAnd, a, 1), WITH_SCOPES(atomicOr, b, 1), WITH_SCOPES(atomicXor, c, 1);
    WITH_SCOPES(atomicAdd, d, 1), WITH_SCOPES(atomicMax, d, 1), WITH_SCOPES(atomicExch, d, 1), WITH_SCOPES(atomicMin, e, 1);
    unsafeAtomicAdd(d, 1), safeAtomicAdd(e, 1), atomicAddNoRet(d, 1), atomicInc(b, 7), atomicDec(b, 7);
}
