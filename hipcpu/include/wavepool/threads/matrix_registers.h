// The registers in which lanes hand their operands to a matrix instruction and take its result, and its number.
#pragma once

// Words of each lane: two of A, four of B, the index of a sparse A, and C, which becomes D.
enum { wp_matrix_a = 0, wp_matrix_b = 2, wp_matrix_index = 6, wp_matrix_d = 8, wp_matrix_words = 40 };

enum wp_matrix_operation {
    wp_no_matrix_operation,
#define MFMA(NAME, M, N, K, BLOCKS, A, B, D, MODIFIERS) wp_mfma_##NAME,
#define SMFMAC(NAME, M, N, K, A, B, D) wp_smfmac_##NAME,
#define GONE(NAME, INSTEAD)
#include "wavepool/threads/matrix_instructions.inc"
#undef MFMA
#undef SMFMAC
#undef GONE
    wp_matrix_operations,
};
