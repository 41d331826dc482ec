from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from problems.kit.comparison import BIAS_ELEMENTS, compare
from problems.kit.definition import Tolerance
from problems.kit.imprecision import precision_of
from problems.kit.rounding import SUM, sum_condition
from problems.library.catalogue import Catalogue

ONE_ROUNDING = Tolerance(1.0, "one rounding")
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
TERMS = 256


def products(seed: int, *, positive: bool = False, rows: int = 64) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """The terms of many sums, the sums in fp64, and their condition."""
    draw = np.random.default_rng(seed)
    left, right = draw.standard_normal((2, rows, TERMS)).astype(np.float32)
    terms = np.abs(left * right) if positive else left * right
    exact = terms.astype(np.float64)
    return terms, exact.sum(axis=1), sum_condition(np.abs(exact).sum(axis=1), TERMS)


def accumulated(terms: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """One running accumulator of a type."""
    total = np.zeros(terms.shape[0], dtype)
    for column in range(terms.shape[1]):
        total = (total.astype(np.float32) + terms[:, column]).astype(dtype)
    return total.astype(np.float32)


@given(st.integers(0, 2**32), st.booleans())
@settings(max_examples=20)
def test_honest_sums_are_neither_wrong_nor_biased(seed: int, positive: bool) -> None:
    terms, expected, condition = products(seed, positive=positive, rows=512)
    for actual in (terms.sum(axis=1, dtype=np.float32), np.cumsum(terms, axis=1, dtype=np.float32)[:, -1]):
        result = compare(actual, expected, condition, SUM)
        assert result.passed
        assert abs(result.bias_units) < 0.1 * SUM.units


@given(st.integers(0, 2**32))
@settings(max_examples=10)
def test_sums_in_bfloat16_are_imprecise(seed: int) -> None:
    terms, expected, condition = products(seed)
    actual = accumulated(terms, BFLOAT16)
    assert not compare(actual, expected, condition, SUM).passed
    precision = precision_of(actual, expected, condition, SUM)
    # One of 64 sums that nearly cancels may look like a narrower type.
    assert precision.format in {"bfloat16", "float16 or tf32", "float8"}
    assert precision.max_units >= precision.p999_units > SUM.units


@pytest.mark.parametrize("positive", [False, True])
def test_a_sum_of_99_per_cent_is_wrong_and_not_imprecise(positive: bool) -> None:
    terms, expected, condition = products(3, positive=positive)
    actual = terms[:, : TERMS * 99 // 100].sum(axis=1, dtype=np.float32)
    assert not compare(actual, expected, condition, SUM).passed
    assert precision_of(actual, expected, condition, SUM).format is None


@pytest.mark.parametrize(
    ("dtype", "name"), [(np.dtype(np.float16), "float16 or tf32"), (BFLOAT16, "bfloat16")], ids=str
)
def test_rounded_outputs_are_named_by_their_format(dtype: np.dtype[Any], name: str) -> None:
    expected = np.random.default_rng(0).uniform(1, 2, 1000)
    actual = expected.astype(dtype).astype(np.float32)
    assert precision_of(actual, expected, expected, ONE_ROUNDING).format == name


@pytest.mark.parametrize("answer", [0.0, 1.0, 1.5, np.nan, np.inf])
def test_constants_are_wrong(answer: float) -> None:
    expected = np.random.default_rng(0).uniform(1, 2, 1000)
    actual = np.full(1000, answer, np.float32)
    assert precision_of(actual, expected, expected, ONE_ROUNDING).format is None


def test_one_element_that_is_wrong_among_imprecise_ones_makes_them_wrong() -> None:
    expected = np.random.default_rng(0).uniform(1, 2, 1000)
    actual = expected.astype(BFLOAT16).astype(np.float32)
    actual[17] = 0
    assert precision_of(actual, expected, expected, ONE_ROUNDING).format is None


def test_a_single_sum_is_imprecise_only_if_it_was_rounded() -> None:
    expected = np.array([1.23456789])
    rounded = expected.astype(BFLOAT16).astype(np.float32)
    assert precision_of(rounded, expected, expected, ONE_ROUNDING).format is not None
    assert precision_of((expected * 0.999).astype(np.float32), expected, expected, ONE_ROUNDING).format is None


@pytest.mark.parametrize("digits", [2, 3, 4, 5, 6])
def test_a_constant_with_few_digits_is_no_narrower_format(digits: int) -> None:
    # Outputs of either sign, so that the errors go up and down.
    expected = np.random.default_rng(0).normal(0, 1, 4096) * np.pi
    actual = (expected / np.pi).astype(np.float32) * np.float32(round(np.pi, digits))
    precision = precision_of(actual, expected, np.abs(expected), ONE_ROUNDING)
    assert precision.max_units > 1
    assert (precision.format, precision.is_close) == (None, digits > 2)


@given(st.integers(0, 2**32), st.booleans(), st.integers(1, 4096))
@settings(max_examples=30)
def test_rounding_the_terms_of_a_sum_errs_by_as_much_as_is_asked_for(seed: int, positive: bool, terms: int) -> None:
    draw = np.random.default_rng(seed)
    exact = draw.standard_normal((max(64, 4096 // terms), terms))
    exact = np.abs(exact) if positive else exact
    expected, condition = exact.sum(axis=1), sum_condition(np.abs(exact).sum(axis=1), terms)
    actual = exact.astype(np.float16).astype(np.float32).sum(axis=1, dtype=np.float64).astype(np.float32)
    strict = Tolerance(1e-3, "so that this fails at any length")
    assert not precision_of(actual, expected, condition, strict).is_close


def test_an_exact_problem_is_never_nearly_right() -> None:
    expected = np.random.default_rng(0).uniform(1, 2, 1000)
    actual = (expected * (1 + 1e-6)).astype(np.float32)
    assert not precision_of(actual, expected, expected, Tolerance(0.0, "exact")).is_close


def test_errors_that_all_lean_to_one_side_do_not_pass_though_each_is_small() -> None:
    expected = np.random.default_rng(0).uniform(1, 2, BIAS_ELEMENTS)
    tolerance = Tolerance(64.0, "many roundings")
    error = 50 * np.finfo(np.float32).eps * expected
    signs = np.where(np.arange(BIAS_ELEMENTS) % 2, 1, -1)
    leaning = compare((expected + error).astype(np.float32), expected, expected, tolerance)
    assert (leaning.mismatches, leaning.is_biased, leaning.passed) == (0, True, False)
    assert leaning.bias_units == pytest.approx(50, rel=0.05)
    both_ways = compare((expected + signs * error).astype(np.float32), expected, expected, tolerance)
    assert both_ways.passed
    few = slice(BIAS_ELEMENTS - 1)
    assert compare((expected + error).astype(np.float32)[few], expected[few], expected[few], tolerance).passed


def test_where_an_accepted_formula_lies_to_one_side_errors_may_do_so_too() -> None:
    gelu = Catalogue.load().get("gelu").problem
    x = np.random.default_rng(1).uniform(0.5, 2.0, (64, 64)).astype(np.float32)
    case = gelu.sizes.cpu[0]
    expected = gelu.reference(case, {"input": x})
    condition = gelu.condition(case, {"input": x}, expected)["output"]
    tanh_form = 0.5 * x * (1 + np.tanh(np.float32(np.sqrt(2 / np.pi)) * (x + np.float32(0.044715) * x**3)))
    compared = compare(tanh_form, expected["output"], condition, gelu.tolerance)
    assert (compared.passed, compared.one_sided) == (True, True)
    assert abs(compared.bias_units) > 0.5 * gelu.tolerance.units, "or this shows nothing"


def test_integers_are_never_imprecise() -> None:
    expected = np.arange(1000)
    actual = (expected + 1).astype(np.int32)
    assert precision_of(actual, expected, expected, Tolerance(0.0, "exact")).format is None


@given(st.integers(1, 400), st.integers(0, 2**32))
def test_figures_of_random_outputs_are_in_order(size: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    expected = draw.standard_normal(size)
    actual = (expected * (1 + 1e-4 * draw.standard_normal(size))).astype(np.float32)
    precision = precision_of(actual, expected, np.abs(expected), ONE_ROUNDING)
    assert 0 <= precision.p999_units <= precision.max_units
    assert abs(precision.bias_units) <= precision.max_units
    assert precision.allowed_units == 1
