"""Matrices for the block-scaled formats whose right encoding does not depend on how a kernel orders its products.

An encoding is compared bit by bit, so that nothing may hang on the last bit of a product or of a logarithm: scales and
elements stay clear of where rounding turns, except for planted ties where the arithmetic is exact. No negative number
becomes 0, as encoders differ about its sign, and no block is 0, as any scale would do for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from problems.families.microscaling import (
    E2M1,
    E4M3,
    MX_BLOCK,
    NV_BLOCK,
    SmallFloat,
    nv_exact_scales,
    nv_global_scale,
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
        largest = _largest(np.abs(blocks))
        blocks[:, :1][largest == 0] = 1
        largest[largest == 0] = 1
        # Just below a power of two, a logarithm in float takes the number for that power.
        factors = np.where(np.frexp(largest)[0] > 1 - _CLEAR, np.float32(0.75), np.float32(1))
        blocks *= factors
        largest *= factors
        exponents = np.frexp(largest)[1] - 1 - element.exponent
        rows, columns = np.nonzero(rng.random(blocks.shape, np.float32) < _TIE_SHARE)
        is_free = np.abs(blocks[rows, columns]) < largest[rows, 0]
        rows, columns = rows[is_free], columns[is_free]
        blocks[rows, columns] = np.ldexp(_ties(element, rows.size, rng), exponents[rows, 0])
        # What is at the first turn or below becomes 0, as ties go to the even code.
        vanishing = np.signbit(blocks) & (blocks >= -np.ldexp(np.float32(_turns(element)[0]), exponents))
        np.negative(blocks, out=blocks, where=vanishing)

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
    left = np.flatnonzero(_may_be_unclear(blocks, scale))
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
    if not np.signbit(blocks).any():
        return
    small, worth = _nv_ratios_about(blocks, scale)
    # Below the first turn, from which they are clear.
    vanishing = np.signbit(blocks) & (small < np.float32(_turns(E2M1)[0])) & (worth > 0)
    np.negative(blocks, out=blocks, where=vanishing)


def _nv_ratios_about(blocks: NDArray[np.float16], scale: float) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Sizes of elements before they are rounded, and what their blocks' scales are worth, to a few float32 digits."""
    sizes = np.abs(blocks).astype(np.float32)
    worth = E4M3.decode(E4M3.round(_largest(sizes) * np.float32(scale / E2M1.largest))).astype(np.float32)
    sizes *= np.divide(np.float32(scale), worth, out=np.zeros_like(worth), where=worth > 0)
    return sizes, worth


def _may_be_unclear(blocks: NDArray[np.float16], scale: float) -> NDArray[np.bool_]:
    """Which blocks have a scale or an element that may be unclear: all that do, and a few more."""
    quarters, _ = _nv_ratios_about(blocks, scale)
    quarters *= np.float32(4)
    # All turns of E2M1 are multiples of 1/4.
    near = np.abs(quarters - np.rint(quarters)) < np.float32(2 * _CLEAR) * quarters
    exact = _largest(np.abs(blocks).astype(np.float32))[:, 0].astype(np.float64) / E2M1.largest * scale
    return near.any(axis=-1) | (_from_turn(exact, E4M3) < 2 * _CLEAR * exact)


def _largest(sizes: NDArray[np.float32]) -> NDArray[np.float32]:
    """Of each block, whose length is a power of two: as max(axis=-1, keepdims=True), which takes thrice as long."""
    while sizes.shape[-1] > 1:
        half = sizes.shape[-1] // 2
        sizes = np.maximum(sizes[:, :half], sizes[:, half:])
    return sizes


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
    sizes = np.abs(values)
    return _from_turn(sizes, element) < _CLEAR * sizes


def _from_turn(sizes: NDArray[np.float64], element: SmallFloat) -> NDArray[np.float64]:
    """How far from the nearest turn."""
    turns = _turns(element)
    after = np.searchsorted(turns, sizes).clip(1, len(turns) - 1)
    return np.minimum(np.abs(sizes - turns[after - 1]), np.abs(sizes - turns[after]))
