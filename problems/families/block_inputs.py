"""Matrices for the block-scaled formats whose right encoding does not depend on how a kernel orders its products.

An encoding is compared bit by bit, so that nothing may hang on the last bit of a product or of a logarithm: scales and
elements stay clear of where rounding turns, except for planted ties where the arithmetic is exact. No negative number
becomes 0, as encoders differ about its sign, and no block is 0, as any scale would do for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from problems.families.microscaling import (
    E2M1,
    E4M3,
    MX_BLOCK,
    NV_BLOCK,
    SmallFloat,
    nv_exact_scales,
    nv_global_scale,
    nv_quantized,
    nv_ratios,
)
from problems.kit.distributions import changed

if TYPE_CHECKING:
    from numpy.typing import NDArray

_CLEAR = 1e-4
"""How far from a turn, relative to the number: a hundred times what float products in any order err by."""
_TIE_SHARE = 1 / 128
_MOST_STEPS = 20
_BLOCKS_AT_ONCE = 1 << 13
"""So few that what is made of them on the way stays in the processor's cache."""


def mx_input(matrix: NDArray[np.float32], element: SmallFloat, rng: np.random.Generator) -> NDArray[np.float32]:
    """The matrix with what hangs on a last bit moved, and with ties planted."""

    def clear(blocks: NDArray[np.float32], _: slice) -> None:
        largest = np.abs(blocks).max(axis=-1, keepdims=True)
        blocks[:, :1][largest == 0] = 1
        # Just below a power of two, a logarithm in float takes the number for that power.
        mantissas, _exponents = np.frexp(np.abs(blocks).max(axis=-1, keepdims=True))
        blocks *= np.where(mantissas > 1 - _CLEAR, np.float32(0.75), np.float32(1))
        largest = np.abs(blocks).max(axis=-1, keepdims=True)
        exponents = np.frexp(largest)[1] - 1 - element.exponent
        planted = (rng.random(blocks.shape, np.float32) < _TIE_SHARE) & (np.abs(blocks) < largest)
        rows, columns = np.nonzero(planted)
        blocks[rows, columns] = np.ldexp(_ties(element, rows.size, rng), exponents[rows, 0])
        vanishing = element.round(np.ldexp(blocks.astype(np.float64), -exponents)) == _negative_zero(element)
        blocks[vanishing] *= -1

    return changed(matrix, clear, length=MX_BLOCK)


def nv_input(matrix: NDArray[np.float16]) -> tuple[NDArray[np.float16], float]:
    """The matrix and its global scale, with what hangs on a last bit moved by a few bits towards zero."""
    matrix = np.where(matrix == 0, np.float16(2.0**-10), matrix)
    scale = nv_global_scale(matrix)
    blocks = matrix.reshape(-1, NV_BLOCK)
    for first in range(0, len(blocks), _BLOCKS_AT_ONCE):
        _clear(blocks[first : first + _BLOCKS_AT_ONCE], scale)
    return matrix, scale


def _clear(blocks: NDArray[np.float16], scale: float) -> None:
    """Move what is unclear in some blocks; only where something was, others can be."""
    left = np.arange(len(blocks))
    for _ in range(_MOST_STEPS):
        some = blocks[left]
        wide = some.astype(np.float64)
        exact = nv_exact_scales(wide, scale)
        ratios = nv_ratios(wide, E4M3.round(exact), scale)
        largest = np.abs(wide) == np.abs(wide).max(axis=-1, keepdims=True)
        unclear = np.where(largest, _unclear(exact, E4M3)[:, None], _unclear(ratios, E2M1))
        moved = unclear.any(axis=-1)
        left, some = left[moved], some[moved]
        if not left.size:
            break
        blocks[left] = np.where(unclear[moved], np.nextafter(some, np.float16(0)), some)
    vanishing = nv_quantized(blocks, scale)[0] == _negative_zero(E2M1)
    blocks[vanishing] *= np.float16(-1)


def _numbers(element: SmallFloat) -> NDArray[np.float64]:
    """All that are not negative, in ascending order."""
    codes = np.arange(int(element.round(np.array([element.largest]))[0]) + 1, dtype=np.uint8)
    return element.decode(codes)


def _turns(element: SmallFloat) -> NDArray[np.float64]:
    """The middle of each two neighbours, at which the one gives way to the other."""
    numbers = _numbers(element)
    return (numbers[1:] + numbers[:-1]) / 2


def _ties(element: SmallFloat, count: int, rng: np.random.Generator) -> NDArray[np.float64]:
    turns = _turns(element)
    drawn = rng.choice(turns, count)
    return np.where((drawn > turns[0]) & (rng.random(count) < 1 / 2), -drawn, drawn)


def _unclear(values: NDArray[np.float64], element: SmallFloat) -> NDArray[np.bool_]:
    """Which numbers lie so near to a turn that the order of products may decide."""
    turns, sizes = _turns(element), np.abs(values)
    after = np.searchsorted(turns, sizes).clip(1, len(turns) - 1)
    nearest = np.minimum(np.abs(sizes - turns[after - 1]), np.abs(sizes - turns[after]))
    return nearest < _CLEAR * sizes


def _negative_zero(element: SmallFloat) -> Any:  # noqa: ANN401 - a scalar of numpy's, to compare codes with
    return element.round(np.array([-0.0]))[0]
