"""Where the wrong elements of an output lie: the values around the first one, and a coarse map of the whole.

Both say only what was compared: of a large answer that may be a part. The map takes one pass over the elements, in
chunks, and is made only of outputs that failed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from problems.kit.comparison import Comparison, chunks, wrong_among
from problems.kit.definition import Tolerance
from services.executor.core.model.events import ErrorMap, ErrorWindow
from services.executor.core.model.failure import Failure

WINDOW_EDGE = 16
"""Most rows and columns of a window. In one dimension, too, rows of 16 show the patterns of lanes and vector loads."""
MAP_EDGE = 32
"""Most rows and columns of a map."""


@dataclass(frozen=True)
class Compared:
    """Elements of an output of this shape, with their references and conditions.

    `places` are their places in the flattened output; None if they are all of them.
    """

    shape: tuple[int, ...]
    actual: NDArray[Any]
    expected: NDArray[Any]
    condition: NDArray[Any]
    places: NDArray[np.int64] | None = None


def located(
    failure: Failure, comparisons: Mapping[str, Comparison], compared: Mapping[str, Compared], tolerance: Tolerance
) -> Failure:
    """The failure with the window and the map of the first output that has a wrong element, if any has."""
    name = next((name for name, comparison in comparisons.items() if comparison.mismatches), None)
    if name is not None and failure.wrong_answer is not None:
        one, first = compared[name], comparisons[name].first[0].index
        failure.wrong_answer = replace(
            failure.wrong_answer,
            window=window_of(name, one, tolerance, first),
            error_map=map_of(name, one, tolerance),
        )
    return failure


def window_of(output: str, compared: Compared, tolerance: Tolerance, first: tuple[int, ...]) -> ErrorWindow:
    """At most WINDOW_EDGE x WINDOW_EDGE elements around index `first`, of the output's last two dimensions."""
    places, columns = _window_places(compared.shape, first)
    at = _positions(compared, places)
    known, found = at >= 0, at[at >= 0]
    condition = np.broadcast_to(compared.condition, compared.expected.shape).flat[found]
    actual, expected = compared.actual.reshape(-1)[found], compared.expected.reshape(-1)[found]
    return ErrorWindow(
        output=output,
        origin=tuple(int(one) for one in np.unravel_index(int(places[0]), compared.shape)),
        rows=places.size // columns,
        columns=columns,
        expected=_spread(_doubles(expected), known),
        actual=_spread(_doubles(actual), known),
        wrong=_spread(wrong_among(actual, expected, condition, tolerance), known),
        compared=tuple(known.tolist()),
    )


def map_of(output: str, compared: Compared, tolerance: Tolerance) -> ErrorMap:
    """The shares of wrong elements, as counts, in at most MAP_EDGE x MAP_EDGE cells."""
    grid = _Grid.of(compared.shape)
    wrong = np.zeros(grid.rows * grid.columns, np.int64)
    places = None if compared.places is None else compared.places.reshape(-1)
    for start, actual, expected, condition in chunks(compared.actual, compared.expected, compared.condition):
        found = start + np.flatnonzero(wrong_among(actual, expected, condition, tolerance))
        wrong += grid.count(found if places is None else places[found])
    return ErrorMap(
        output,
        grid.output_rows,
        grid.output_columns,
        grid.cell_rows,
        grid.cell_columns,
        grid.rows,
        grid.columns,
        tuple(wrong.tolist()),
        tuple((grid.sizes(prod(compared.shape)) if places is None else grid.count(places)).tolist()),
    )


def _window_places(shape: tuple[int, ...], first: tuple[int, ...]) -> tuple[NDArray[np.int64], int]:
    """The places of a window's cells in the flattened output, row by row, and the number of its columns.

    They go on past the end of an output of one dimension, whose last row may be short.
    """
    if len(shape) < 2:  # noqa: PLR2004 - rows and columns
        size = prod(shape)
        columns = min(WINDOW_EDGE, size)
        rows = -(-size // columns)
        begin = _begin(first[0] // columns if first else 0, rows)
        cells = np.arange(min(WINDOW_EDGE, rows) * columns)
        return begin * columns + cells, columns
    rows, columns = shape[-2:]
    begins = (_begin(first[-2], rows), _begin(first[-1], columns))
    of_matrix = int(np.ravel_multi_index((*first[:-2], 0, 0), shape))
    of_rows = begins[0] + np.arange(min(WINDOW_EDGE, rows))
    of_columns = begins[1] + np.arange(min(WINDOW_EDGE, columns))
    return (of_matrix + of_rows[:, None] * columns + of_columns).reshape(-1), of_columns.size


def _begin(at: int, length: int) -> int:
    """Where a window begins that has `at` in its middle, or ends where the dimension does."""
    return max(0, min(at - WINDOW_EDGE // 2, length - WINDOW_EDGE))


def _positions(compared: Compared, places: NDArray[np.int64]) -> NDArray[np.int64]:
    """The positions of ascending places among the elements that were compared; -1 for those that were not."""
    if compared.places is None:
        return np.where(places < prod(compared.shape), places, -1)
    positions, all_places = np.full(places.size, -1, np.int64), compared.places.reshape(-1)
    near = np.flatnonzero((all_places >= places[0]) & (all_places <= places[-1]))
    cell = np.searchsorted(places, all_places[near])
    is_cell = places[cell] == all_places[near]
    positions[cell[is_cell]] = near[is_cell]
    return positions


def _doubles(values: NDArray[Any]) -> NDArray[np.float64]:
    # Poison may be a signalling NaN.
    with np.errstate(all="ignore"):
        return values.astype(np.float64)


def _spread(values: NDArray[Any], known: NDArray[np.bool_]) -> tuple[Any, ...]:
    """All cells, with zeros in those that are not known."""
    cells = np.zeros(known.shape, values.dtype)
    cells[known] = values
    return tuple(cells.tolist())


@dataclass(frozen=True)
class _Grid:
    """The cells of a map."""

    output_rows: int
    output_columns: int
    cell_rows: int
    cell_columns: int

    @classmethod
    def of(cls, shape: tuple[int, ...]) -> _Grid:
        """The cells of an output, which is a matrix whose columns are its last dimension.

        An output of one dimension is cut into rows of whole cells, so that each cell stands for neighbours in memory.
        """
        size = prod(shape)
        cell = max(1, -(-size // MAP_EDGE**2))
        columns = shape[-1] if len(shape) > 1 else min(size, MAP_EDGE * cell)
        rows = -(-size // columns)
        return cls(rows, columns, -(-rows // MAP_EDGE), -(-columns // MAP_EDGE))

    @property
    def rows(self) -> int:
        return -(-self.output_rows // self.cell_rows)

    @property
    def columns(self) -> int:
        return -(-self.output_columns // self.cell_columns)

    def count(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """The number of places in each cell."""
        rows, columns = np.divmod(places, self.output_columns)
        cells = rows // self.cell_rows * self.columns + columns // self.cell_columns
        return np.bincount(cells, minlength=self.rows * self.columns)

    def sizes(self, elements: int) -> NDArray[np.int64]:
        """The number of elements in each cell of an output of so many."""
        whole_rows, rest = divmod(elements, self.output_columns)
        of_rows = _lengths(whole_rows, self.cell_rows, self.rows)
        sizes = np.outer(of_rows, _lengths(self.output_columns, self.cell_columns, self.columns))
        if rest:
            sizes[whole_rows // self.cell_rows] += _lengths(rest, self.cell_columns, self.columns)
        return sizes.reshape(-1)


def _lengths(length: int, step: int, count: int) -> NDArray[np.int64]:
    """The lengths of `count` stretches of `step`, as far as `length` goes."""
    return np.clip(length - np.arange(count) * step, 0, step)
