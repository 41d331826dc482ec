"""Where things lie in the barrier area: `runtime/kernels/barrier_area.h`, in bytes from its start."""

from __future__ import annotations

_THREADS = 1024
_WAVES = 16
_WAVE = 64
_WORD = 8

# Before and after the values that threads show lies one wavefront of padding: a shift reads beyond the last lane, and
# drops what it read there.
BROUGHT = _WAVE * _WORD
VALUES = BROUGHT + (_THREADS + _WAVE) * _WORD
MASKS = VALUES + (_THREADS + _WAVE) * _WORD
ACTIVE = MASKS + _THREADS * _WORD
COUNT = ACTIVE + _WAVES * _WORD
ARRIVED = COUNT + 4
NEXT = ARRIVED + 4
