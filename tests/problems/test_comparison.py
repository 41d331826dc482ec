from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from numpy.typing import NDArray

from problems.kit.comparison import CHUNK_ELEMENTS, Comparison, compare
from problems.kit.definition import Tolerance

EPS = float(np.finfo(np.float32).eps)
FLOATS = arrays(np.float32, array_shapes(max_dims=3, max_side=6), elements=st.floats(width=32))
NUMBERS = st.floats(min_value=-1e30, max_value=1e30).filter(lambda value: abs(value) > 1e-30)


def judged(actual: Any, expected: Any, units: float = 1.0, dtype: type[np.generic] = np.float32) -> Comparison:
    reference: NDArray[Any] = np.asarray(expected)
    with np.errstate(all="ignore"):
        output: NDArray[Any] = np.asarray(actual).astype(dtype)
    return compare(output, reference, np.abs(reference), Tolerance(units, "for the test"))


@settings(deadline=None)
@given(FLOATS)
def test_any_output_equals_itself_exactly(values: NDArray[np.float32]) -> None:
    with np.errstate(all="ignore"):  # widening a signalling NaN
        expected = values.astype(np.float64)
    assert judged(values, expected, units=0.0).passed


@settings(deadline=None)
@given(NUMBERS)
def test_a_correctly_rounded_result_is_within_one_unit(value: float) -> None:
    assert judged([value], [value]).passed


@settings(deadline=None)
@given(NUMBERS, st.floats(min_value=1.0, max_value=64.0))
def test_an_error_beyond_the_units_is_a_mismatch(value: float, units: float) -> None:
    wrong = value + np.sign(value) * abs(value) * EPS * (units + 1.5)
    assert not judged([wrong], [value], units).passed
    assert judged([wrong], [value], units + 4.0).passed


@settings(deadline=None)
@given(FLOATS, st.data())
def test_one_element_of_another_class_is_the_one_mismatch(values: NDArray[np.float32], data: st.DataObject) -> None:
    at = tuple(data.draw(st.integers(0, side - 1)) for side in values.shape)
    other = values.copy()
    other[at] = np.nan if not np.isnan(values[at]) else 1.0
    with np.errstate(all="ignore"):  # widening a signalling NaN
        result = judged(other, values.astype(np.float64))
    assert [mismatch.index for mismatch in result.first] == [at]
    assert np.isnan(result.first[0].difference)


@pytest.mark.parametrize(
    ("actual", "expected", "right"),
    [
        (np.nan, np.nan, True),
        (np.inf, np.inf, True),
        (np.inf, -np.inf, False),
        (np.nan, np.inf, False),
        (np.nan, 1.0, False),
        (1.0, np.nan, False),
        (3.4e38, np.inf, False),
        (np.inf, 3.4e38, False),
        (np.inf, 1e300, True),
        (-0.0, 0.0, True),
    ],
)
def test_nan_and_infinity_match_their_own_class_only(actual: float, expected: float, right: bool) -> None:
    assert judged([actual], [expected], units=1e30 if not right else 1.0).passed is right
    assert judged([actual], [expected], units=0.0).passed is right


def test_results_below_the_smallest_normal_number_may_be_flushed_to_zero() -> None:
    assert judged([0.0], [1e-40]).passed
    assert not judged([0.0], [1e-37]).passed
    assert not judged([0.0], [1e-40], units=0.0).passed


def test_poison_of_any_bits_is_compared_without_a_warning() -> None:
    bits = np.random.default_rng(3).integers(0, 1 << 32, 100_000, np.uint32)
    assert judged(bits.view(np.float32), np.ones(bits.size)).mismatches > 99_000


def test_mismatches_are_counted_and_the_first_ones_listed_in_memory_order() -> None:
    expected = np.zeros((3, 4))
    actual = expected.copy()
    actual[0, 2], actual[1, 1], actual[2, 3] = 1.0, 2.0, -3.0
    result = compare(actual.astype(np.float32), expected, np.ones(()), Tolerance(1.0, ""), first=2)
    assert (result.mismatches, result.elements) == (3, 12)
    assert [(m.index, m.expected, m.actual, m.difference) for m in result.first] == [
        ((0, 2), 0.0, 1.0, 1.0),
        ((1, 1), 0.0, 2.0, 2.0),
    ]
    assert (result.max_difference, result.mean_difference) == (3.0, 0.5)


def test_the_largest_error_is_given_in_the_units_that_the_tolerance_bounds() -> None:
    result = judged([1.0 + 3 * EPS, 2.0], [1.0, 2.0], units=4.0)
    assert result.passed
    assert result.max_units == pytest.approx(3.0)


def test_a_mismatch_in_a_later_chunk_has_its_own_index() -> None:
    expected = np.ones((3, CHUNK_ELEMENTS))
    actual = expected.astype(np.float32)
    actual[2, 5] = 9.0
    assert [mismatch.index for mismatch in compare(actual, expected, expected, Tolerance(1.0, "")).first] == [(2, 5)]


def test_the_condition_widens_the_tolerance_where_it_says_so() -> None:
    expected, actual = np.array([1.0, 1.0]), np.array([1.0, 1.0], np.float32) + np.float32(8 * EPS)
    result = compare(actual, expected, np.array([10.0, 1.0]), Tolerance(1.0, ""))
    assert [mismatch.index for mismatch in result.first] == [(1,)]


@pytest.mark.parametrize("dtype", [np.int32, np.uint8, np.uint64])
def test_integers_must_be_equal(dtype: type[np.generic]) -> None:
    expected = np.array([1, 2, 250])
    assert judged(expected, expected, 0.0, dtype).passed
    assert judged([1, 3, 250], expected, 0.0, dtype).mismatches == 1


def test_unsigned_64_bit_differences_do_not_wrap() -> None:
    actual, expected = np.array([0], np.uint64), np.array([2**64 - 1], np.uint64)
    result = compare(actual, expected, np.zeros(()), Tolerance(0.0, ""))
    assert result.first[0].difference == -(2.0**64)


def test_half_precision_is_measured_in_its_own_eps() -> None:
    eps = float(np.finfo(np.float16).eps)
    assert judged([1.0 + eps], [1.0], 1.0, np.float16).passed
    assert not judged([1.0 + 2 * eps], [1.0], 1.0, np.float16).passed


def test_an_empty_output_passes() -> None:
    assert judged(np.zeros((0, 3)), np.zeros((0, 3))).passed


def test_a_wrong_shape_is_an_error() -> None:
    with pytest.raises(ValueError, match="shape"):
        judged(np.zeros(3), np.zeros(4))
