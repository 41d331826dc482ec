// clang's names for the matrix instructions of gfx942. The lanes of a wavefront hand their registers to the runtime
// (`runtime/matrix`), which computes the product for all of them.
#pragma once

#include <utility>

#include "wavepool/qualifiers.h"
#include "wavepool/threads/matrix_registers.h"

extern "C" {
// Sets a register of the caller's lane, for the next __wp_matrix_barrier.
__device__ void __wp_matrix_set(int number, unsigned value);
// All 64 lanes of the wavefront wait here, and the instruction is executed.
__device__ void __wp_matrix_barrier(int operation, int modifiers, int line);
// What is in a register of the caller's lane after its last __wp_matrix_barrier.
__device__ __attribute__((pure, nothrow)) unsigned __wp_matrix_get(int number);
}

#define WP_FN __device__ __forceinline__

template <class T, int COUNT> struct wp_matrix_vector {
    typedef T type __attribute__((vector_size(COUNT * sizeof(T))));
};
template <class T> struct wp_matrix_vector<T, 1> {
    typedef T type;
};
// The parameter that holds so many values of a lane.
template <int COUNT> struct wp_matrix_operand {
    typedef typename wp_matrix_vector<float, COUNT>::type f32, xf32;
    typedef typename wp_matrix_vector<double, COUNT>::type f64;
    typedef typename wp_matrix_vector<int, COUNT>::type i32;
    typedef typename wp_matrix_vector<__fp16, COUNT>::type f16;
    typedef typename wp_matrix_vector<short, COUNT>::type bf16;
};
template <> struct wp_matrix_operand<4> {
    typedef typename wp_matrix_vector<float, 4>::type f32, xf32;
    typedef typename wp_matrix_vector<double, 4>::type f64;
    typedef typename wp_matrix_vector<int, 4>::type i32;
    typedef typename wp_matrix_vector<__fp16, 4>::type f16;
    typedef typename wp_matrix_vector<short, 4>::type bf16;
    typedef int i8;
};
template <> struct wp_matrix_operand<8> {
    typedef typename wp_matrix_vector<__fp16, 8>::type f16;
    typedef typename wp_matrix_vector<short, 8>::type bf16;
    typedef long i8, fp8, bf8;
};
// Sparse instructions take bytes as vectors of int.
template <int COUNT> struct wp_sparse_operand : wp_matrix_operand<COUNT> {
    typedef typename wp_matrix_vector<int, COUNT / 4>::type i8, fp8, bf8;
};

template <int FIRST, class T> WP_FN void wp_matrix_bring(T value) {
    unsigned words[sizeof(T) / sizeof(unsigned)];
    __builtin_memcpy(words, &value, sizeof(T));
    [&]<int... I>(std::integer_sequence<int, I...>) {
        (__wp_matrix_set(FIRST + I, words[I]), ...);
    }(std::make_integer_sequence<int, sizeof(words) / sizeof(unsigned)>());
}
template <int FIRST, class T> WP_FN T wp_matrix_taken() {
    unsigned words[sizeof(T) / sizeof(unsigned)];
    [&]<int... I>(std::integer_sequence<int, I...>) {
        ((words[I] = __wp_matrix_get(FIRST + I)), ...);
    }(std::make_integer_sequence<int, sizeof(words) / sizeof(unsigned)>());
    T value;
    __builtin_memcpy(&value, words, sizeof(T));
    return value;
}
template <class A, class B, class D> WP_FN D wp_matrix(A a, B b, D c, int operation, int modifiers, int line) {
    wp_matrix_bring<wp_matrix_a>(a);
    wp_matrix_bring<wp_matrix_b>(b);
    wp_matrix_bring<wp_matrix_d>(c);
    __wp_matrix_barrier(operation, modifiers, line);
    return wp_matrix_taken<wp_matrix_d, D>();
}

#define WP_REFUSED(CONDITION, MESSAGE) __attribute__((diagnose_if(CONDITION, MESSAGE, "error")))
#define WP_OUTSIDE(VALUE, MOST) (VALUE < 0 || VALUE > MOST)
#define WP_CONSTANT(VALUE) \
    WP_REFUSED(!__builtin_constant_p(VALUE), "argument '" #VALUE "' of a matrix instruction must be a constant integer")
#define WP_ZERO(VALUE) WP_REFUSED(VALUE != 0, "this instruction of gfx942 has no " #VALUE ": it must be 0")
#define WP_BLGP WP_REFUSED(WP_OUTSIDE(blgp, 7), "blgp must be 0 to 7")
#define WP_MODIFIERS_none(BLOCKS) WP_ZERO(cbsz) WP_ZERO(abid) WP_ZERO(blgp)
#define WP_MODIFIERS_lanes(BLOCKS) WP_ZERO(cbsz) WP_ZERO(abid) WP_BLGP
#define WP_MODIFIERS_negate(BLOCKS) WP_MODIFIERS_lanes(BLOCKS)
#define WP_MODIFIERS_broadcast(BLOCKS)                                                                        \
    WP_REFUSED(cbsz < 0 || cbsz > 4 || 1 << cbsz > BLOCKS, "1 << cbsz must be at most " #BLOCKS ", its blocks") \
    WP_REFUSED(cbsz >= 0 && cbsz <= 4 && WP_OUTSIDE(abid, (1 << cbsz) - 1), "abid must be less than 1 << cbsz") WP_BLGP

#define MFMA(NAME, M, N, K, BLOCKS, A, B, D, MODIFIERS)                                                                \
    WP_FN wp_matrix_operand<M * N * BLOCKS / 64>::D __builtin_amdgcn_mfma_##NAME(                                      \
        wp_matrix_operand<M * K * BLOCKS / 64>::A a, wp_matrix_operand<N * K * BLOCKS / 64>::B b,                      \
        wp_matrix_operand<M * N * BLOCKS / 64>::D c, int cbsz, int abid, int blgp, int line = __builtin_LINE())        \
        WP_CONSTANT(cbsz) WP_CONSTANT(abid) WP_CONSTANT(blgp) WP_MODIFIERS_##MODIFIERS(BLOCKS) {                       \
        return wp_matrix(a, b, c, wp_mfma_##NAME, cbsz | abid << 4 | blgp << 8, line);                                 \
    }
// abid chooses which of the sets of indices in the word counts, if cbsz is 0.
#define SMFMAC(NAME, M, N, K, A, B, D)                                                                                 \
    WP_FN wp_matrix_operand<M * N / 64>::D __builtin_amdgcn_smfmac_##NAME(                                             \
        wp_sparse_operand<M * K / 128>::A a, wp_sparse_operand<N * K / 64>::B b, wp_matrix_operand<M * N / 64>::D c,   \
        int index, int cbsz, int abid, int line = __builtin_LINE())                                                    \
        WP_CONSTANT(cbsz) WP_CONSTANT(abid) WP_REFUSED(WP_OUTSIDE(cbsz, 3), "cbsz must be 0 to 3")                     \
        WP_REFUSED(WP_OUTSIDE(abid, 16 / (M * K / 128) - 1), "abid must name one of the index's sets") {               \
        wp_matrix_bring<wp_matrix_index>(index);                                                                       \
        return wp_matrix(a, b, c, wp_smfmac_##NAME, cbsz | abid << 4, line);                                           \
    }
#define GONE(NAME, INSTEAD)                                                                                            \
    template <class A, class B, class C>                                                                               \
    __attribute__((unavailable("gfx942 has no such instruction: use __builtin_amdgcn_mfma_" #INSTEAD))) __device__ C   \
    __builtin_amdgcn_mfma_##NAME(A a, B b, C c, int cbsz, int abid, int blgp);
#include "wavepool/threads/matrix_instructions.inc"
#undef MFMA
#undef SMFMAC
#undef GONE
#undef WP_REFUSED
#undef WP_OUTSIDE
#undef WP_CONSTANT
#undef WP_ZERO
#undef WP_BLGP
#undef WP_MODIFIERS_none
#undef WP_MODIFIERS_lanes
#undef WP_MODIFIERS_negate
#undef WP_MODIFIERS_broadcast
#undef WP_FN
