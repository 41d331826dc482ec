// The matrix instructions of gfx942, executed for a whole wavefront.
#pragma once

#include <cstdint>

#include "../calls/launch_limits.h"
#include "wavepool/threads/matrix_registers.h"

namespace wavepool {

// As in hardware, a register holds a word of each lane.
struct alignas(64) MatrixRegisters {
    uint32_t words[wp_matrix_words][kWavefront];

    // The number may be any: kernels can pass one that does not exist.
    uint32_t (&of(int number))[kWavefront] { return words[uint32_t(number) % wp_matrix_words]; }
};

// The operation in the low byte, then cbsz, abid and blgp with four bits each; compiled kernels know it
// (`synchronisation.py`).
using MatrixInstruction = uint32_t;
constexpr MatrixInstruction kNoMatrixInstruction = 0;
constexpr MatrixInstruction matrix_instruction(int operation, int modifiers) {
    return (uint32_t(operation) & 0xff) | uint32_t(modifiers) << 8;
}

// Reads A, B and C and writes D; ends the process if there is no such instruction.
void execute(MatrixInstruction instruction, MatrixRegisters& registers);

}  // namespace wavepool
