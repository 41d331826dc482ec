"""The window and the map of wrong elements, against brute force over every element."""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from problems.kit.comparison import compare
from problems.kit.definition import Tolerance
from services.executor.core.check.wrong_places import MAP_EDGE, WINDOW_EDGE, Compared, map_of, window_of
from services.executor.core.model.events import ErrorMap, ErrorWindow

TOLERANCE = Tolerance(8.0, "")
shapes = st.one_of(
    st.tuples(st.integers(1, 5000)),
    st.tuples(st.integers(1, 70), st.integers(1, 70)),
    st.tuples(st.integers(1, 4), st.integers(1, 40), st.integers(1, 40)),
)


@st.composite
def answers(draw: st.DrawFn) -> tuple[Compared, NDArray[np.bool_]]:
    """An output, whole or in part, with some wrong elements, and the mask of these in the whole."""
    shape = draw(shapes)
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    expected = random.standard_normal(shape)
    actual = expected.astype(np.float32)
    wrong = random.random(shape) < draw(st.sampled_from([0.001, 0.1, 1.0]))
    wrong.reshape(-1)[draw(st.integers(0, wrong.size - 1))] = True
    actual[wrong] = draw(st.sampled_from([np.nan, np.inf, 7.0]))
    scale = draw(st.sampled_from([np.ones(()), np.ones(shape)]))
    if not draw(st.booleans()):
        return Compared(shape, actual, expected, scale), wrong
    some = random.random(wrong.size) < 0.5
    some[np.flatnonzero(wrong)[-1]] = True
    places = np.flatnonzero(some)
    of_part = Compared(shape, actual.reshape(-1)[places], expected.reshape(-1)[places], np.ones(()), places)
    return of_part, (wrong.reshape(-1) & some).reshape(shape)


def first_of(compared: Compared, wrong: NDArray[np.bool_]) -> tuple[int, ...]:
    return tuple(int(one) for one in np.unravel_index(int(np.flatnonzero(wrong)[0]), compared.shape))


def values_of(compared: Compared) -> Mapping[tuple[int, ...], tuple[float, float]]:
    """Actual and expected by index, of the elements that were compared."""
    places = range(math.prod(compared.shape)) if compared.places is None else compared.places.tolist()
    indices = [tuple(int(one) for one in np.unravel_index(at, compared.shape)) for at in places]
    pairs = zip(compared.actual.reshape(-1).tolist(), compared.expected.reshape(-1).tolist(), strict=True)
    return dict(zip(indices, pairs, strict=True))


def cells_of(window: ErrorWindow) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Each cell's place in the lists, and its index in the output, as the documents say it."""
    for row in range(window.rows):
        for column in range(window.columns):
            at = row * window.columns + column
            if len(window.origin) == 1:
                yield at, (window.origin[0] + at,)
            else:
                yield at, (*window.origin[:-2], window.origin[-2] + row, window.origin[-1] + column)


@given(answers())
def test_a_window_has_the_first_wrong_element_and_is_right_in_every_cell(
    answer: tuple[Compared, NDArray[np.bool_]],
) -> None:
    compared, wrong = answer
    first, values = first_of(compared, wrong), values_of(compared)
    window = window_of("y", compared, TOLERANCE, first)
    cells = dict(cells_of(window))
    assert first in cells.values()
    assert max(window.rows, window.columns) <= WINDOW_EDGE
    assert len(window.wrong) == window.rows * window.columns
    for at, index in cells.items():
        assert window.compared[at] is (index in values)
        if index in values:
            assert window.wrong[at] is bool(wrong[index])
            np.testing.assert_equal((window.actual[at], window.expected[at]), values[index])


@given(answers())
def test_every_share_of_a_map_is_that_of_its_elements(answer: tuple[Compared, NDArray[np.bool_]]) -> None:
    compared, wrong = answer
    made = map_of("y", compared, TOLERANCE)
    known = np.zeros(wrong.size, np.int64)
    known[slice(None) if compared.places is None else compared.places] = 1
    assert max(made.rows, made.columns) <= MAP_EDGE
    assert summed(made, wrong.reshape(-1).astype(np.int64)) == list(made.wrong)
    assert summed(made, known) == list(made.compared)
    found = compare(compared.actual, compared.expected, compared.condition, TOLERANCE)
    assert sum(made.wrong) == found.mismatches


def summed(made: ErrorMap, values: NDArray[np.int64]) -> list[int]:
    """The sums over each cell of the output as a matrix, one by one."""
    matrix = np.zeros(made.output_rows * made.output_columns, np.int64)
    matrix[: values.size] = values
    matrix = matrix.reshape(made.output_rows, made.output_columns)
    return [
        int(matrix[row : row + made.cell_rows, column : column + made.cell_columns].sum())
        for row in range(0, made.output_rows, made.cell_rows)
        for column in range(0, made.output_columns, made.cell_columns)
    ]


def answer_of(actual: NDArray[Any], expected: NDArray[Any]) -> Compared:
    return Compared(actual.shape, actual, expected, np.ones(()))


def test_cells_are_wrong_by_the_tolerance_and_not_for_being_unequal() -> None:
    expected = np.ones((4, 4))
    actual = expected.astype(np.float32)
    actual[1, 1], actual[2, 2] = 1 + np.finfo(np.float32).eps, 2.0
    window = window_of("y", answer_of(actual, expected), TOLERANCE, (2, 2))
    assert [at for at, wrong in enumerate(window.wrong) if wrong] == [10]
    assert window.actual[5] != window.expected[5]


@pytest.mark.parametrize(("first", "origin"), [(0, 0), (100, 0), (1000, 864), (4095, 3840)])
def test_an_output_of_one_dimension_is_cut_into_rows_of_sixteen(first: int, origin: int) -> None:
    actual = np.zeros(4096, np.int32)
    actual[first] = 1
    window = window_of("y", answer_of(actual, np.zeros(4096, np.int64)), Tolerance(0.0, ""), (first,))
    assert (window.origin, window.rows, window.columns) == ((origin,), 16, 16)


@pytest.mark.parametrize("shape", [(), (1,), (3,), (1, 1), (5, 1, 1)])
def test_the_smallest_outputs_have_windows_and_maps(shape: tuple[int, ...]) -> None:
    actual, first = np.ones(shape, np.float32), tuple(0 for _ in shape)
    answer = answer_of(actual, np.zeros(shape))
    window, made = window_of("y", answer, TOLERANCE, first), map_of("y", answer, TOLERANCE)
    assert window.wrong[0]
    assert (sum(made.wrong), sum(made.compared)) == (actual.size, actual.size)


def test_a_map_of_a_large_output_takes_little_memory() -> None:
    size = 1 << 22
    actual, expected = np.ones(size, np.float32), np.zeros(size)
    answer = Compared((size,), actual, expected, np.ones(size))
    tracemalloc.start()
    made = map_of("y", answer, TOLERANCE)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert set(made.wrong) == {4096}
    assert peak < actual.nbytes / 2
