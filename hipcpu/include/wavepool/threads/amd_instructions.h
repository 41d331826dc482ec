// clang's names for single instructions of the MI300X. docs/devices.md says which are approximated, and which missing.
#pragma once

#include "wavepool/threads/amd_arithmetic.h"
#include "wavepool/threads/amd_lanes.h"
#include "wavepool/threads/amd_memory.h"
#include "wavepool/threads/synchronisation.h"

#define WP_FN __device__ __forceinline__

#define WP_DIMENSION(AXIS)                                                                              \
    WP_FN unsigned __builtin_amdgcn_workitem_id_##AXIS() { return threadIdx.AXIS; }                     \
    WP_FN unsigned __builtin_amdgcn_workgroup_id_##AXIS() { return blockIdx.AXIS; }                     \
    WP_FN unsigned short __builtin_amdgcn_workgroup_size_##AXIS() { return (unsigned short)blockDim.AXIS; } \
    WP_FN unsigned __builtin_amdgcn_grid_size_##AXIS() { return gridDim.AXIS * blockDim.AXIS; }
WP_DIMENSION(x)
WP_DIMENSION(y)
WP_DIMENSION(z)
#undef WP_DIMENSION
WP_FN unsigned __builtin_amdgcn_wavefrontsize() { return 64; }

// Registers of the hardware: an MI300X without load, which gives blocks to its 8 dies in turn, to the 4 engines of each
// in turn, and a block's wavefronts to the 4 units of a processor. `field` is number | offset << 6 | (width - 1) << 11.
WP_FN unsigned wp_hardware_register(unsigned number) {
    const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z), wave = thread / 64;
    const unsigned on_die = block / 8;
    if (number == 20) return block % 8;
    if (number == 4) return wave / 4 % 10 | wave % 4 << 4 | on_die / 4 % 10 << 8 | on_die % 4 << 13;
    return 0x3f0;  // MODE: nearest, with denormals
}
WP_FN unsigned __builtin_amdgcn_s_getreg(int field)
    __attribute__((diagnose_if((field & 63) != 20 && (field & 63) != 4 && (field & 63) != 1,
                               "of the hardware's registers only MODE (1), HW_ID (4) and XCC_ID (20) are on the cpu device", "error"))) {
    return __builtin_amdgcn_ubfe(wp_hardware_register(field & 63), field >> 6 & 31, 31) & unsigned((2ull << (field >> 11 & 31)) - 1);
}

extern "C" {
// The packet that launched the kernel: its sizes. Nothing waits for a signal of it, and its addresses are 0.
__device__ void* __wp_dispatch_packet(unsigned block_x, unsigned block_y, unsigned block_z, unsigned threads_x,
                                      unsigned threads_y, unsigned threads_z);
}
WP_FN __attribute__((address_space(4))) void* __builtin_amdgcn_dispatch_ptr() {
    return (__attribute__((address_space(4))) void*)__wp_dispatch_packet(
        blockDim.x, blockDim.y, blockDim.z, gridDim.x * blockDim.x, gridDim.y * blockDim.y, gridDim.z * blockDim.z);
}

// Lanes run one after another here: who waits for shared memory, whose count is in bits 8 to 11, means to see what the
// other lanes of the wavefront wrote.
WP_FN void __builtin_amdgcn_wave_barrier(int line = __builtin_LINE()) { __wp_wave_barrier(0, 0, line); }
WP_FN void __builtin_amdgcn_s_waitcnt(int counts, int line = __builtin_LINE()) {
    if ((counts >> 8 & 15) < 15) __wp_wave_barrier(0, 0, line);
}

// Hints to the scheduler, the caches and the clocks.
WP_FN void __builtin_amdgcn_sched_barrier(int) {}
WP_FN void __builtin_amdgcn_sched_group_barrier(int, int, int) {}
WP_FN void __builtin_amdgcn_iglp_opt(int) {}
WP_FN void __builtin_amdgcn_s_setprio(short) {}
WP_FN void __builtin_amdgcn_s_dcache_inv() {}
WP_FN void __builtin_amdgcn_s_dcache_inv_vol() {}
WP_FN void __builtin_amdgcn_s_dcache_wb() {}
WP_FN unsigned long long __builtin_amdgcn_s_memtime() { return __builtin_readcyclecounter(); }
WP_FN unsigned long long __builtin_amdgcn_s_memrealtime() { return __builtin_readcyclecounter(); }
#undef WP_FN
