"""Layout of the barrier area: offsets in bytes, as in `runtime/kernels/barrier_area.h`."""

from __future__ import annotations

_THREADS = 1024
_WAVES = 16
_WAVE = 64
_WORD = 8

# One wavefront of padding lies before and after the values that threads show: a shift reads beyond the last lane, and
# discards the result.
BROUGHT = _WAVE * _WORD
VALUES = BROUGHT + (_THREADS + _WAVE) * _WORD
MASKS = VALUES + (_THREADS + _WAVE) * _WORD
ACTIVE = MASKS + _THREADS * _WORD
COUNT = ACTIVE + _WAVES * _WORD
ARRIVED = COUNT + 4
NEXT = ARRIVED + 4
MATRICES = NEXT + _THREADS * 4 + 56
MATRIX_REGISTERS = 40
MATRIX_REGISTER = _WAVE * 4
