// Intrinsics of LLVM for AMD GPUs, called by label: `__asm("llvm.amdgcn.raw.buffer.load.i32")` behind a declaration of
// one's own. Sources that have such labels include this; clang emits only those that are called.
#pragma once

#include "wavepool/threads/amd_instructions.h"
#include "wavepool/threads/fp8_instructions.h"
#include "wavepool/threads/matrix_instructions.h"

#define WP_JOINED_(A, B) A##B
#define WP_JOINED(A, B) WP_JOINED_(A, B)
#define WP_LABEL(LABEL, T, PARAMETERS, ...) WP_LABEL_(WP_JOINED(wp_label_, __COUNTER__), LABEL, T, PARAMETERS, __VA_ARGS__)
#define WP_LABEL_(NAME, LABEL, T, PARAMETERS, ...)                         \
    inline __device__ T NAME PARAMETERS __asm("wp.llvm.amdgcn." LABEL);    \
    inline __device__ T NAME PARAMETERS { __VA_ARGS__; }

typedef __attribute__((address_space(3))) void* wp_shared_pointer;
typedef __attribute__((address_space(1))) void* wp_global_pointer;
struct wp_words {
    unsigned words[4];
};
__device__ __forceinline__ wp_buffer wp_described(wp_uint4 words) {
    return wp_buffer(__builtin_bit_cast(wp_words, words).words);
}
__device__ __forceinline__ wp_buffer wp_described(__amdgpu_buffer_rsrc_t buffer) { return wp_buffer(buffer.words); }
// A vector of three elements has the size of one of four.
template <class T, bool kIsThree> struct wp_moved {
    T value;
    __device__ __forceinline__ wp_moved() = default;
    __device__ __forceinline__ wp_moved(T given) : value(given) {}
    __device__ __forceinline__ T get() const { return value; }
};
template <class T> struct wp_moved<T, true> {
    unsigned words[3];
    __device__ __forceinline__ wp_moved() = default;
    __device__ __forceinline__ wp_moved(T given) { __builtin_memcpy(words, &given, 12); }
    __device__ __forceinline__ T get() const { T value; __builtin_memcpy(&value, words, 12); return value; }
};

#define WP_BUFFER_FORMS(SUFFIX, T, IS_THREE, KIND, R)                                                                       \
    WP_LABEL("raw" KIND "buffer.load." SUFFIX, T, (R buffer, int offset, int scalar, int),                                  \
             return wp_described(buffer).load<wp_moved<T, IS_THREE>>(false, 0, offset, scalar).get())                       \
    WP_LABEL("raw" KIND "buffer.store." SUFFIX, void, (T value, R buffer, int offset, int scalar, int),                     \
             wp_described(buffer).store(wp_moved<T, IS_THREE>(value), false, 0, offset, scalar))                            \
    WP_LABEL("struct" KIND "buffer.load." SUFFIX, T, (R buffer, int index, int offset, int scalar, int),                    \
             return wp_described(buffer).load<wp_moved<T, IS_THREE>>(true, index, offset, scalar).get())                    \
    WP_LABEL("struct" KIND "buffer.store." SUFFIX, void, (T value, R buffer, int index, int offset, int scalar, int),       \
             wp_described(buffer).store(wp_moved<T, IS_THREE>(value), true, index, offset, scalar))
#define WP_BUFFER_TYPE(SUFFIX, T, IS_THREE)              \
    WP_BUFFER_FORMS(SUFFIX, T, IS_THREE, ".", wp_uint4)  \
    WP_BUFFER_FORMS(SUFFIX, T, IS_THREE, ".ptr.", __amdgpu_buffer_rsrc_t)
#define WP_BUFFER_VECTOR(COUNT, SUFFIX, T, IS_THREE)                                  \
    typedef T WP_JOINED(wp_##T##_, COUNT) __attribute__((ext_vector_type(COUNT)));    \
    WP_BUFFER_TYPE("v" #COUNT SUFFIX, WP_JOINED(wp_##T##_, COUNT), IS_THREE)
WP_BUFFER_TYPE("i8", char, false)
WP_BUFFER_TYPE("i16", short, false)
WP_BUFFER_TYPE("i32", int, false)
WP_BUFFER_TYPE("i64", long, false)
WP_BUFFER_TYPE("i128", __int128, false)
WP_BUFFER_TYPE("f16", _Float16, false)
WP_BUFFER_TYPE("bf16", __bf16, false)
WP_BUFFER_TYPE("f32", float, false)
WP_BUFFER_TYPE("f64", double, false)
WP_BUFFER_VECTOR(2, "i8", char, false)
WP_BUFFER_VECTOR(4, "i8", char, false)
WP_BUFFER_VECTOR(8, "i8", char, false)
WP_BUFFER_VECTOR(16, "i8", char, false)
WP_BUFFER_VECTOR(2, "i16", short, false)
WP_BUFFER_VECTOR(4, "i16", short, false)
WP_BUFFER_VECTOR(8, "i16", short, false)
WP_BUFFER_VECTOR(2, "i32", int, false)
WP_BUFFER_VECTOR(3, "i32", int, true)
WP_BUFFER_VECTOR(4, "i32", int, false)
WP_BUFFER_VECTOR(2, "i64", long, false)
WP_BUFFER_VECTOR(2, "f16", _Float16, false)
WP_BUFFER_VECTOR(4, "f16", _Float16, false)
WP_BUFFER_VECTOR(8, "f16", _Float16, false)
WP_BUFFER_VECTOR(2, "bf16", __bf16, false)
WP_BUFFER_VECTOR(4, "bf16", __bf16, false)
WP_BUFFER_VECTOR(8, "bf16", __bf16, false)
WP_BUFFER_VECTOR(2, "f32", float, false)
WP_BUFFER_VECTOR(3, "f32", float, true)
WP_BUFFER_VECTOR(4, "f32", float, false)
WP_BUFFER_VECTOR(2, "f64", double, false)
#undef WP_BUFFER_VECTOR
#undef WP_BUFFER_TYPE
#undef WP_BUFFER_FORMS

#define WP_BUFFER_UPDATE_FORMS(NAME, SUFFIX, T, EXPRESSION, KIND, R)                                                           \
    WP_LABEL("raw" KIND "buffer.atomic." NAME "." SUFFIX, T, (T value, R buffer, int offset, int scalar, int),                 \
             return wp_described(buffer).update<T>(false, 0, offset, scalar, [value](T* place) -> T { return EXPRESSION; }))   \
    WP_LABEL("struct" KIND "buffer.atomic." NAME "." SUFFIX, T, (T value, R buffer, int index, int offset, int scalar, int),   \
             return wp_described(buffer).update<T>(true, index, offset, scalar, [value](T* place) -> T { return EXPRESSION; }))
#define WP_BUFFER_UPDATE(NAME, SUFFIX, T, EXPRESSION)                   \
    WP_BUFFER_UPDATE_FORMS(NAME, SUFFIX, T, EXPRESSION, ".", wp_uint4)  \
    WP_BUFFER_UPDATE_FORMS(NAME, SUFFIX, T, EXPRESSION, ".ptr.", __amdgpu_buffer_rsrc_t)
#define WP_BUFFER_INTEGER_UPDATES(SUFFIX, U, S)                                      \
    WP_BUFFER_UPDATE("swap", SUFFIX, S, atomicExch(place, value))                    \
    WP_BUFFER_UPDATE("add", SUFFIX, S, atomicAdd(place, value))                      \
    WP_BUFFER_UPDATE("sub", SUFFIX, S, atomicSub(place, value))                      \
    WP_BUFFER_UPDATE("smin", SUFFIX, S, atomicMin(place, value))                     \
    WP_BUFFER_UPDATE("smax", SUFFIX, S, atomicMax(place, value))                     \
    WP_BUFFER_UPDATE("umin", SUFFIX, U, atomicMin(place, value))                     \
    WP_BUFFER_UPDATE("umax", SUFFIX, U, atomicMax(place, value))                     \
    WP_BUFFER_UPDATE("and", SUFFIX, S, atomicAnd(place, value))                      \
    WP_BUFFER_UPDATE("or", SUFFIX, S, atomicOr(place, value))                        \
    WP_BUFFER_UPDATE("xor", SUFFIX, S, atomicXor(place, value))                      \
    WP_LABEL("raw.buffer.atomic.cmpswap." SUFFIX, S, (S value, S expected, wp_uint4 buffer, int offset, int scalar, int), \
             return wp_described(buffer).update<S>(false, 0, offset, scalar, [=](S* place) -> S { return atomicCAS(place, expected, value); }))
WP_BUFFER_INTEGER_UPDATES("i32", unsigned, int)
WP_BUFFER_INTEGER_UPDATES("i64", unsigned long, long)
WP_BUFFER_UPDATE("fadd", "f32", float, atomicAdd(place, value))
WP_BUFFER_UPDATE("fadd", "f64", double, atomicAdd(place, value))
WP_BUFFER_UPDATE("fadd", "v2f16", wp_half2, wp_atomic_sum(place, value))
WP_BUFFER_UPDATE("fadd", "v2bf16", wp_bfloat2, wp_atomic_sum(place, value))
WP_BUFFER_UPDATE("fmin", "f64", double, atomicMin(place, value))
WP_BUFFER_UPDATE("fmax", "f64", double, atomicMax(place, value))
#undef WP_BUFFER_INTEGER_UPDATES
#undef WP_BUFFER_UPDATE
#undef WP_BUFFER_UPDATE_FORMS

WP_LABEL("raw.buffer.load.lds", void, (wp_uint4 buffer, wp_shared_pointer to, unsigned size, int at, int scalar, int offset, int),
         wp_buffer_to_shared(wp_described(buffer), to, size, false, 0, at, scalar, offset, 0))
WP_LABEL("raw.ptr.buffer.load.lds", void, (__amdgpu_buffer_rsrc_t buffer, wp_shared_pointer to, unsigned size, int at, int scalar, int offset, int),
         wp_buffer_to_shared(wp_described(buffer), to, size, false, 0, at, scalar, offset, 0))
WP_LABEL("struct.buffer.load.lds", void, (wp_uint4 buffer, wp_shared_pointer to, unsigned size, int index, int at, int scalar, int offset, int),
         wp_buffer_to_shared(wp_described(buffer), to, size, true, index, at, scalar, offset, 0))
WP_LABEL("global.load.lds", void, (wp_global_pointer from, wp_shared_pointer to, unsigned size, int offset, int),
         wp_global_to_shared((const char*)from, to, size, offset, 0))

WP_LABEL("readfirstlane", int, (int value), return __builtin_amdgcn_readfirstlane(value, 0))
WP_LABEL("readfirstlane.i32", int, (int value), return __builtin_amdgcn_readfirstlane(value, 0))
WP_LABEL("readlane", int, (int value, int lane), return __builtin_amdgcn_readlane(value, lane, 0))
WP_LABEL("readlane.i32", int, (int value, int lane), return __builtin_amdgcn_readlane(value, lane, 0))
WP_LABEL("writelane", int, (int value, int lane, int old), return int(__wp_lane()) == lane ? value : old)
WP_LABEL("writelane.i32", int, (int value, int lane, int old), return int(__wp_lane()) == lane ? value : old)
WP_LABEL("ds.permute", int, (int address, int value), return __builtin_amdgcn_ds_permute(address, value, 0))
WP_LABEL("ds.bpermute", int, (int address, int value), return __builtin_amdgcn_ds_bpermute(address, value, 0))
WP_LABEL("ds.swizzle", int, (int value, int pattern), return __builtin_amdgcn_ds_swizzle(value, pattern, 0))
WP_LABEL("mov.dpp.i32", int, (int value, int control, int rows, int banks, bool zero), return __builtin_amdgcn_mov_dpp(value, control, rows, banks, zero, 0))
WP_LABEL("update.dpp.i32", int, (int old, int value, int control, int rows, int banks, bool zero),
         return __builtin_amdgcn_update_dpp(old, value, control, rows, banks, zero, 0))
WP_LABEL("ballot.i64", unsigned long, (bool predicate), return __builtin_amdgcn_ballot_w64(predicate, 0))
WP_LABEL("mbcnt.lo", unsigned, (unsigned mask, unsigned count), return __builtin_amdgcn_mbcnt_lo(mask, count))
WP_LABEL("mbcnt.hi", unsigned, (unsigned mask, unsigned count), return __builtin_amdgcn_mbcnt_hi(mask, count))
WP_LABEL("s.barrier", void, (), __builtin_amdgcn_s_barrier(0))
WP_LABEL("s.waitcnt", void, (int), )
WP_LABEL("s.setprio", void, (short), )
WP_LABEL("sched.barrier", void, (int), )
WP_LABEL("sched.group.barrier", void, (int, int, int), )
WP_LABEL("fdot2", float, (wp_half2 a, wp_half2 b, float c, bool clamp), return __builtin_amdgcn_fdot2(a, b, c, clamp))
WP_LABEL("sdot2", int, (wp_short2 a, wp_short2 b, int c, bool clamp), return __builtin_amdgcn_sdot2(a, b, c, clamp))
WP_LABEL("sdot4", int, (int a, int b, int c, bool clamp), return __builtin_amdgcn_sdot4(a, b, c, clamp))
WP_LABEL("sdot8", int, (int a, int b, int c, bool clamp), return __builtin_amdgcn_sdot8(a, b, c, clamp))
WP_LABEL("udot4", unsigned, (unsigned a, unsigned b, unsigned c, bool clamp), return __builtin_amdgcn_udot4(a, b, c, clamp))
WP_LABEL("perm", unsigned, (unsigned a, unsigned b, unsigned selector), return __builtin_amdgcn_perm(a, b, selector))
WP_LABEL("cvt.pkrtz", wp_half2, (float a, float b), return __builtin_bit_cast(wp_half2, __builtin_amdgcn_cvt_pkrtz(a, b)))
WP_LABEL("rcp.f32", float, (float x), return __builtin_amdgcn_rcpf(x))
WP_LABEL("rsq.f32", float, (float x), return __builtin_amdgcn_rsqf(x))
WP_LABEL("exp2.f32", float, (float x), return __builtin_amdgcn_exp2f(x))
WP_LABEL("log.f32", float, (float x), return __builtin_amdgcn_logf(x))
WP_LABEL("fmed3.f32", float, (float a, float b, float c), return __builtin_amdgcn_fmed3f(a, b, c))
WP_LABEL("cvt.pknorm.i16", wp_short2, (float a, float b), return __builtin_amdgcn_cvt_pknorm_i16(a, b))
WP_LABEL("cvt.pknorm.u16", wp_ushort2, (float a, float b), return __builtin_amdgcn_cvt_pknorm_u16(a, b))
WP_LABEL("cvt.pk.i16", wp_short2, (int a, int b), return __builtin_amdgcn_cvt_pk_i16(a, b))
WP_LABEL("cvt.pk.u16", wp_ushort2, (unsigned a, unsigned b), return __builtin_amdgcn_cvt_pk_u16(a, b))
WP_LABEL("cvt.pk.u8.f32", unsigned, (float x, unsigned byte, unsigned old), return __builtin_amdgcn_cvt_pk_u8_f32(x, byte, old))
// The builtins want to know at compile time which part of the register they are about.
#define WP_CONVERSION_LABELS(NAME)                                                                                       \
    WP_LABEL("cvt.f32." #NAME, float, (int codes, int byte), return __builtin_amdgcn_cvt_f32_##NAME(codes >> 8 * byte, 0)) \
    WP_LABEL("cvt.pk.f32." #NAME, auto, (int codes, bool upper),                                                         \
             return __builtin_amdgcn_cvt_pk_f32_##NAME(codes >> 16 * upper, false))                                      \
    WP_LABEL("cvt.pk." #NAME ".f32", int, (float a, float b, int old, bool upper),                                       \
             return upper ? __builtin_amdgcn_cvt_pk_##NAME##_f32(a, b, old, true)                                        \
                          : __builtin_amdgcn_cvt_pk_##NAME##_f32(a, b, old, false))                                      \
    WP_LABEL("cvt.sr." #NAME ".f32", int, (float a, int seed, int old, int byte),                                        \
             return wp_fp8_with_byte(old, (unsigned char)__builtin_amdgcn_cvt_sr_##NAME##_f32(a, seed, 0, 0), byte))
WP_CONVERSION_LABELS(fp8)
WP_CONVERSION_LABELS(bf8)
#undef WP_CONVERSION_LABELS

// Matrix instructions, whose names `amd_source.py` has changed to those of the table. The build refuses kernels in which
// a call of this is left when their constants are known; it names the author's line.
extern "C" __device__ void __wp_refused_modifiers(const char* why);
#define WP_ALLOWED_none(BLOCKS) (cbsz | abid | blgp) == 0
#define WP_ALLOWED_lanes(BLOCKS) (cbsz | abid | (blgp & ~7)) == 0
#define WP_ALLOWED_negate(BLOCKS) WP_ALLOWED_lanes(BLOCKS)
#define WP_ALLOWED_broadcast(BLOCKS) \
    ((cbsz | blgp) & ~7) == 0 && 1 << cbsz <= BLOCKS && unsigned(abid) < 1u << cbsz
#define MFMA(NAME, M, N, K, BLOCKS, A, B, D, MODIFIERS)                                                                  \
    WP_LABEL("mfma_" #NAME, wp_matrix_operand<M * N * BLOCKS / 64>::D,                                                   \
             (wp_matrix_operand<M * K * BLOCKS / 64>::A a, wp_matrix_operand<N * K * BLOCKS / 64>::B b,                  \
              wp_matrix_operand<M * N * BLOCKS / 64>::D c, int cbsz, int abid, int blgp),                                \
             if (!(WP_ALLOWED_##MODIFIERS(BLOCKS))) __wp_refused_modifiers("mfma_" #NAME " of gfx942 has no such cbsz, abid or blgp"); \
             return wp_matrix(a, b, c, wp_mfma_##NAME, cbsz | abid << 4 | blgp << 8, 0))
#define SMFMAC(NAME, M, N, K, A, B, D)                                                                                   \
    WP_LABEL("smfmac_" #NAME, wp_matrix_operand<M * N / 64>::D,                                                          \
             (wp_sparse_operand<M * K / 128>::A a, wp_sparse_operand<N * K / 64>::B b, wp_matrix_operand<M * N / 64>::D c, \
              int index, int cbsz, int abid),                                                                            \
             if (cbsz & ~3 || unsigned(abid) >= 16 / (M * K / 128))                                                      \
                 __wp_refused_modifiers("smfmac_" #NAME " of gfx942 has no such cbsz or abid");                          \
             wp_matrix_bring<wp_matrix_index>(index);                                                                    \
             return wp_matrix(a, b, c, wp_smfmac_##NAME, cbsz | abid << 4, 0))
#define GONE(NAME, INSTEAD)
#include "wavepool/threads/matrix_instructions.inc"
#undef MFMA
#undef SMFMAC
#undef GONE
#undef WP_ALLOWED_none
#undef WP_ALLOWED_lanes
#undef WP_ALLOWED_negate
#undef WP_ALLOWED_broadcast
#undef WP_LABEL
#undef WP_LABEL_
