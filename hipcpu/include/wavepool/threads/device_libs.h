// OCKL, the half of AMD's device libraries that asks where a thread is, and HIP's helpers around its instructions, by
// the names of HIP's headers. Not here: images, printing and memory of the runtime's own, and grids of several devices.
#pragma once

#include "wavepool/math/device_libs.h"
#include "wavepool/math/integer_math.h"
#include "wavepool/threads/amd_instructions.h"
#include "wavepool/threads/atomics.h"

#define WP_FN __device__ __forceinline__
#define WP_C_FN extern "C" __device__ __forceinline__

#define WP_OF_DIMENSION(NAME, OBJECT)                                                                           \
    WP_C_FN unsigned long NAME(unsigned dimension) {                                                            \
        return dimension == 0 ? OBJECT.x : dimension == 1 ? OBJECT.y : OBJECT.z;                                \
    }
WP_OF_DIMENSION(__ockl_get_local_id, threadIdx)
WP_OF_DIMENSION(__ockl_get_group_id, blockIdx)
WP_OF_DIMENSION(__ockl_get_local_size, blockDim)
WP_OF_DIMENSION(__ockl_get_num_groups, gridDim)
#undef WP_OF_DIMENSION
#define WP_IN_DIMENSION(D)                                              \
    WP_FN unsigned __hip_get_thread_idx_##D() { return threadIdx.D; }   \
    WP_FN unsigned __hip_get_block_idx_##D() { return blockIdx.D; }     \
    WP_FN unsigned __hip_get_block_dim_##D() { return blockDim.D; }     \
    WP_FN unsigned __hip_get_grid_dim_##D() { return gridDim.D; }
WP_IN_DIMENSION(x)
WP_IN_DIMENSION(y)
WP_IN_DIMENSION(z)
#undef WP_IN_DIMENSION

WP_C_FN unsigned __ockl_lane_u32() { return __lane_id(); }
// How many active lanes are before this one.
WP_C_FN unsigned __ockl_activelane_u32() { return unsigned(__popcll(__activemask() & __lanemask_lt())); }
WP_C_FN unsigned long long __ockl_steadyctr_u64() { return (unsigned long long)wall_clock64(); }
WP_C_FN unsigned __ockl_clz_u32(unsigned x) { return unsigned(__clz(int(x))); }
WP_C_FN unsigned long __ockl_clz_u64(unsigned long x) { return (unsigned long)__clzll((long long)x); }
WP_C_FN unsigned char __ockl_clz_u8(unsigned char x) { return (unsigned char)(__clz(x) - 24); }
WP_C_FN unsigned short __ockl_clz_u16(unsigned short x) { return (unsigned short)(__clz(x) - 16); }
WP_C_FN int __ockl_mul24_i32(int x, int y) { return __mul24(x, y); }
WP_C_FN unsigned __ockl_mul24_u32(unsigned x, unsigned y) { return __umul24(x, y); }
WP_C_FN int __ockl_mul_hi_i32(int x, int y) { return __mulhi(x, y); }
WP_C_FN unsigned __ockl_mul_hi_u32(unsigned x, unsigned y) { return __umulhi(x, y); }
// |x - y| + z
WP_C_FN unsigned __ockl_sadd_u32(unsigned x, unsigned y, unsigned z) { return __usad(x, y, z); }
WP_C_FN void __ockl_atomic_add_noret_f32(float* p, float x) { atomicAdd(p, x); }
WP_C_FN bool __ockl_wfall_i32(int x) { return __all(x) != 0; }
WP_C_FN bool __ockl_wfany_i32(int x) { return __any(x) != 0; }
// Over the block, whose threads must all come; and and or are those of `x != 0`.
WP_C_FN int __ockl_wgred_and_i32(int x) { return __syncthreads_and(x); }
WP_C_FN int __ockl_wgred_or_i32(int x) { return __syncthreads_or(x); }
WP_C_FN int __ockl_wgred_add_i32(int x) { return __syncthreads_count(x); }
WP_C_FN int __ockl_grid_is_valid() { return __wp_is_cooperative(); }
WP_C_FN void __ockl_grid_sync() {
    __syncthreads();
    if (threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0) __wp_grid_barrier();
    __syncthreads();
}
WP_C_FN _Float16 __llvm_amdgcn_rcp_f16(_Float16 x) { return _Float16(1.0f / float(x)); }
WP_C_FN __2f16 __llvm_amdgcn_rcp_2f16(__2f16 x) {
    return {__llvm_amdgcn_rcp_f16(x.x), __llvm_amdgcn_rcp_f16(x.y)};
}

// Sums of products, by the instructions that compute them.
WP_C_FN float __ockl_fdot2(__2f16 x, __2f16 y, float z, bool clamp) { return __builtin_amdgcn_fdot2(x, y, z, clamp); }
WP_C_FN int __ockl_sdot2(short2::Native_vec_ x, short2::Native_vec_ y, int z, bool clamp) {
    return __builtin_amdgcn_sdot2(x, y, z, clamp);
}
WP_C_FN unsigned __ockl_udot2(ushort2::Native_vec_ x, ushort2::Native_vec_ y, unsigned z, bool clamp) {
    return __builtin_amdgcn_udot2(x, y, z, clamp);
}
WP_C_FN int __ockl_sdot4(char4::Native_vec_ x, char4::Native_vec_ y, int z, bool clamp) {
    return __builtin_amdgcn_sdot4(__builtin_bit_cast(int, x), __builtin_bit_cast(int, y), z, clamp);
}
WP_C_FN unsigned __ockl_udot4(uchar4::Native_vec_ x, uchar4::Native_vec_ y, unsigned z, bool clamp) {
    return __builtin_amdgcn_udot4(__builtin_bit_cast(unsigned, x), __builtin_bit_cast(unsigned, y), z, clamp);
}
WP_C_FN int __ockl_sdot8(int x, int y, int z, bool clamp) { return __builtin_amdgcn_sdot8(x, y, z, clamp); }
WP_C_FN unsigned __ockl_udot8(unsigned x, unsigned y, unsigned z, bool clamp) {
    return __builtin_amdgcn_udot8(x, y, z, clamp);
}

WP_FN unsigned __mbcnt_lo(unsigned mask, unsigned add) { return __builtin_amdgcn_mbcnt_lo(mask, add); }
WP_FN unsigned __mbcnt_hi(unsigned mask, unsigned add) { return __builtin_amdgcn_mbcnt_hi(mask, add); }
// Lanes are numbered by bytes: four times the lane.
WP_FN int __hip_ds_bpermute(int index, int value, int line = __builtin_LINE()) {
    return __builtin_amdgcn_ds_bpermute(index, value, line);
}
WP_FN float __hip_ds_bpermutef(int index, float value, int line = __builtin_LINE()) {
    return __int_as_float(__builtin_amdgcn_ds_bpermute(index, __float_as_int(value), line));
}
WP_FN int __hip_ds_permute(int index, int value, int line = __builtin_LINE()) {
    return __builtin_amdgcn_ds_permute(index, value, line);
}
WP_FN float __hip_ds_permutef(int index, float value, int line = __builtin_LINE()) {
    return __int_as_float(__builtin_amdgcn_ds_permute(index, __float_as_int(value), line));
}
template <int PATTERN> WP_FN unsigned __hip_ds_swizzle_N(unsigned value, int line = __builtin_LINE()) {
    return unsigned(__builtin_amdgcn_ds_swizzle(int(value), PATTERN, line));
}
template <int PATTERN> WP_FN float __hip_ds_swizzlef_N(float value, int line = __builtin_LINE()) {
    return __int_as_float(__builtin_amdgcn_ds_swizzle(__float_as_int(value), PATTERN, line));
}
#define __hip_ds_swizzle(value, pattern) __hip_ds_swizzle_N<(pattern)>(value)
#define __hip_ds_swizzlef(value, pattern) __hip_ds_swizzlef_N<(pattern)>(value)
template <int CONTROL, int ROWS, int BANKS, bool ZERO_OUTSIDE>
WP_FN int __hip_move_dpp_N(int value, int line = __builtin_LINE()) {
    return __builtin_amdgcn_mov_dpp(value, CONTROL, ROWS, BANKS, ZERO_OUTSIDE, line);
}
#define __hip_move_dpp(value, control, rows, banks, zero_outside) \
    __hip_move_dpp_N<(control), (rows), (banks), (zero_outside)>(value)

enum { __CLK_LOCAL_MEM_FENCE = 1, __CLK_GLOBAL_MEM_FENCE = 2 };
typedef unsigned __cl_mem_fence_flags;
WP_FN void __named_sync(int line = __builtin_LINE()) { __syncthreads(line); }
WP_FN void __work_group_barrier(__cl_mem_fence_flags, int line = __builtin_LINE()) { __syncthreads(line); }
WP_FN void __barrier(int, int line = __builtin_LINE()) { __syncthreads(line); }
WP_FN void* __local_to_generic(void* p) { return p; }
WP_FN void* __hip_hc_memcpy(void* to, const void* from, size_t bytes) { return __builtin_memcpy(to, from, bytes); }
WP_FN void* __hip_hc_memset(void* to, unsigned char value, size_t bytes) { return __builtin_memset(to, value, bytes); }
#undef WP_C_FN
#undef WP_FN
