"""A part of a case: some output elements, and what of the inputs they are made from.

Answers to large cases are compared in parts that are chosen by lot when the answer is there, which takes about as long
however large the case. An answer of which a share f of the pieces (elements, rows) is left out is taken for right with
a chance of (1 - f)^k, k the pieces that are compared. Parts that have all pieces between them (`Stretch`) are a whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

ELEMENTS = 1 << 19
"""Of each array, about; drawing and comparing as many takes some hundredths of a second."""
FEWEST_PIECES = 48
"""An answer of which 2 % are left out is taken for right in 38 of 100 cases; `core/audit/revealing.py` has how
many have to be. Where there are fewer than twice as many, the whole is judged: any of them may be worth leaving out."""
FEWEST_LINES = 64
"""Rows, and columns, of a product: 2 % of the rows are missed in 27 of 100 cases."""


class Stretch(np.random.Generator):
    """In place of a lot: of all pieces, in order, the `number`-th of `count` stretches of about the same length."""

    def __init__(self, number: int, count: int) -> None:
        super().__init__(np.random.PCG64(0))
        self._number, self._count = number, count

    def of(self, pieces: int) -> NDArray[np.int64]:
        """Those of so many; none if there are fewer than stretches, and this is one too many."""
        first, end = (pieces * number // self._count for number in (self._number, self._number + 1))
        return np.arange(first, end, dtype=np.int64)


def some_elements(count: int, rng: np.random.Generator) -> NDArray[np.int64] | None:
    """Places of elements that are judged one by one, for all arrays alike; None if there are too few to choose."""
    if isinstance(rng, Stretch):
        return rng.of(count)
    if count <= 2 * ELEMENTS:
        return None
    places = np.sort(rng.integers(0, count, ELEMENTS))
    # np.unique takes ten times as long, as it hashes.
    return places[np.diff(places, prepend=-1) > 0]


def some_pieces(count: int, length: int, rng: np.random.Generator) -> NDArray[np.int64] | None:
    """Which of `count` pieces (rows, say) of `length` elements to judge, in order; None if they would be most."""
    if isinstance(rng, Stretch):
        return rng.of(count)
    chosen = max(FEWEST_PIECES, ELEMENTS // length)
    return np.sort(rng.choice(count, chosen, replace=False)) if 2 * chosen <= count else None


def within(pieces: NDArray[np.int64], *shape: int) -> NDArray[np.int64]:
    """The places of all elements of pieces that lie together, each an array of this shape."""
    size = prod(shape)
    return pieces.reshape(-1, *[1] * len(shape)) * size + np.arange(size).reshape(shape)


def grid(rows: NDArray[np.int64], columns: NDArray[np.int64], width: int) -> NDArray[np.int64]:
    """The places of the elements that rows and columns of a matrix so wide have in common."""
    return rows[:, None] * width + columns


@dataclass(frozen=True)
class Tile:
    """Rows and columns of a matrix product whose common elements are judged."""

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]


def some_tile(rows: int, depth: int, columns: int, rng: np.random.Generator) -> Tile | None:
    """A tile of a product of rows x depth by depth x columns; None if it would be most of it."""
    if isinstance(rng, Stretch):
        return None  # Each would need a whole factor.
    side = max(FEWEST_LINES, ELEMENTS // depth)
    if 4 * min(rows, side) * min(columns, side) > rows * columns:
        return None
    chosen = (np.sort(rng.choice(count, min(count, side), replace=False)) for count in (rows, columns))
    return Tile(*chosen)


@dataclass(frozen=True)
class Slide:
    """How windows of `taps` elements lie over a tensor: the first begins `padding` before it, along each side."""

    shape: tuple[int, ...]
    taps: tuple[int, ...]
    padding: tuple[int, ...]
    stride: int = 1
    dilation: int = 1


@dataclass(frozen=True)
class Windows:
    """Outputs by their places, and in a row for each its window: places in the tensor, and which lie `inside` it.

    The places of the others are 0.
    """

    outputs: NDArray[np.int64]
    places: NDArray[np.int64]
    inside: NDArray[np.bool_]


def some_windows(counts: tuple[int, ...], slide: Slide, rng: np.random.Generator) -> Windows | None:
    """Some of so many windows along each side; None if there are too few to choose."""
    outputs = None if isinstance(rng, Stretch) else some_pieces(prod(counts), prod(slide.taps), rng)
    if outputs is None:  # Of all windows in turn each would be copied as often as they overlap.
        return None
    places, inside = np.zeros(1, np.int64), np.ones(1, np.bool_)
    for axis, window in enumerate(np.unravel_index(outputs, counts)):
        at = window[:, None] * slide.stride - slide.padding[axis] + np.arange(slide.taps[axis]) * slide.dilation
        at = at.reshape(-1, *(taps if side == axis else 1 for side, taps in enumerate(slide.taps)))
        inside = inside & (at >= 0) & (at < slide.shape[axis])
        places = places * slide.shape[axis] + at
    return Windows(outputs, np.where(inside, places, 0), inside)
