from __future__ import annotations

from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from problems.kit.comparison import compare
from problems.kit.factors import Factors
from problems.kit.freivalds import COMPARED_ROWS, GROUP_COLUMNS, check_product, suspicious_rows
from problems.kit.rounding import SUM, sum_condition
from problems.kit.threads import threads_allowed
from problems.library.catalogue import Catalogue
from problems.library.lazy import Call
from problems.library.variants import variant_of

PACKED_PRODUCTS = ("mxfp4-gemm", "mxfp8-gemm", "nvfp4-gemm")
PLAIN_PRODUCTS = (
    "matrix-multiplication",
    "square-matmul",
    "symmetric-matmul",
    "lower-trig-matmul",
    "upper-trig-matmul",
    "matmul-3d",
    "matmul-4d",
)
MANY_VECTORS = 40
"""Enough vectors that the probability of missing an error above the bound is 2^-40."""
seeds = st.integers(0, 2**32)
sides = st.integers(1, 80)


def draw_factors(seed: int, m: int, k: int, n: int) -> Factors:
    rng = np.random.default_rng(seed)
    left, right = rng.standard_normal((m, k)).astype(np.float32), rng.standard_normal((k, n)).astype(np.float32)
    left[rng.integers(m), rng.integers(k)] = 4096.0
    return Factors("c", left, right)


def exact(factors: Factors) -> NDArray[np.float64]:
    return factors.left.astype(np.float64) @ factors.right.astype(np.float64)


def granted(factors: Factors) -> NDArray[np.float64]:
    """The error that the tolerance allows for each element."""
    absolute = np.abs(factors.left).astype(np.float64) @ np.abs(factors.right)
    eps = float(np.finfo(np.float32).eps)
    return SUM.units * eps * sum_condition(absolute, factors.left.shape[1])


def found(product: NDArray[Any], factors: Factors, seed: int, vectors: int = MANY_VECTORS) -> list[int]:
    return suspicious_rows(product, factors, SUM, np.random.default_rng(seed + 1), vectors).tolist()


@given(seeds, sides, sides, st.integers(1, 2 * GROUP_COLUMNS + 3))
@settings(max_examples=30, deadline=None)
def test_honest_rounding_is_never_suspected(seed: int, m: int, k: int, n: int) -> None:
    factors = draw_factors(seed, m, k, n)
    assert found(factors.left @ factors.right, factors, seed) == []


@given(seeds, sides, sides, st.integers(1, 2 * GROUP_COLUMNS + 3))
@settings(max_examples=30, deadline=None)
def test_not_even_errors_as_large_as_the_tolerance_are_suspected(seed: int, m: int, k: int, n: int) -> None:
    factors = draw_factors(seed, m, k, n)
    signs = np.random.default_rng(seed).choice((-1.0, 1.0), (m, n))
    for direction in (signs, 1.0):
        product = exact(factors) + 0.75 * direction * granted(factors)
        assert found(product.astype(np.float32), factors, seed) == []


@given(seeds, sides, sides, sides, st.data())
@settings(max_examples=50, deadline=None)
def test_one_element_far_off_is_found_in_its_row(seed: int, m: int, k: int, n: int, data: st.DataObject) -> None:
    factors = draw_factors(seed, m, k, n)
    product = factors.left @ factors.right
    row, column = data.draw(st.integers(0, m - 1)), data.draw(st.integers(0, n - 1))
    # The bound of 2^-64 false alarms is below 16 norms of the row's tolerances, which Minkowski makes larger.
    largest = 40.0 * float(np.linalg.norm(granted(factors)[row])) * np.sqrt(k)
    product[row, column] += data.draw(st.sampled_from([-1, 1])) * largest
    assert found(product, factors, seed) == [row]


@pytest.mark.parametrize("vectors", [1, 2, 3])
def test_a_vector_misses_what_is_above_the_bound_with_a_probability_of_a_half_at_most(vectors: int) -> None:
    factors = draw_factors(3, 4, 16, 8)
    product = factors.left @ factors.right
    # Two errors of the same size, which cancel for half of all signs: the worst that there is.
    product[1, 2] += 64
    product[1, 5] += 64
    repeats = 2000
    misses = sum(found(product, factors, seed, vectors) == [] for seed in range(repeats))
    assert misses / repeats == pytest.approx(0.5**vectors, abs=0.05)


@given(seeds)
@settings(max_examples=20, deadline=None)
def test_a_skipped_hundredth_of_the_tiles_is_found(seed: int) -> None:
    factors = draw_factors(seed, 160, 64, 640)
    product = factors.left @ factors.right
    row, column = (16 * int(at) for at in np.random.default_rng(seed).integers(0, (10, 40)))
    product[row : row + 16, column : column + 16] = 0
    assert set(found(product, factors, seed)) >= set(range(row, row + 16)) - {row + 15}


def test_several_threads_suspect_the_rows_that_one_does() -> None:
    factors = draw_factors(5, 70, 40, 30)
    product = (factors.left.astype(np.float64) @ factors.right.astype(np.float64)).astype(np.float32)
    product[[3, 41, 69], [0, 29, 7]] = np.nan
    with threads_allowed(3):
        found = suspicious_rows(product, factors, SUM, np.random.default_rng(1), block_elements=256)
    assert found.tolist() == [3, 41, 69]


def test_what_is_no_number_is_suspected() -> None:
    factors = draw_factors(1, 9, 4, 5)
    product = factors.left @ factors.right
    product[2, 4], product[7, 0] = np.nan, -np.inf
    assert found(product, factors, 1) == [2, 7]


def test_a_mismatch_is_named_by_its_place_in_the_output() -> None:
    factors = draw_factors(2, 64 * 8, 32, 48)
    output = (factors.left @ factors.right).reshape(8, 64, 48)
    honest = check_product(output, factors, SUM, np.random.default_rng(4))
    assert honest.comparison.passed
    assert honest.precision is None
    assert honest.comparison.elements <= 2 * COMPARED_ROWS * 48
    output[5, 11, 17] += 1e4
    wrong = check_product(output, factors, SUM, np.random.default_rng(4))
    assert [item.index for item in wrong.comparison.first] == [(5, 11, 17)]
    assert wrong.precision is not None


def test_narrow_arithmetic_is_named_by_its_format() -> None:
    rng = np.random.default_rng(5)
    left, right = rng.standard_normal((64, 256)).astype(np.float32), rng.standard_normal((256, 64)).astype(np.float32)
    output = (left.astype(ml_dtypes.bfloat16).astype(np.float32) @ right.astype(ml_dtypes.bfloat16)).astype(np.float32)
    check = check_product(output, Factors("c", left, right), SUM, rng)
    assert check.comparison.mismatches > 0
    assert check.precision is not None
    assert check.precision.format in {"bfloat16", "float16 or tf32"}


@pytest.mark.parametrize(
    ("slug", "dtype"),
    [
        *product(PLAIN_PRODUCTS, ("float32", "float16", "bfloat16")),
        *product(PACKED_PRODUCTS, ("float32",)),
    ],
)
def test_factors_say_what_the_reference_and_its_condition_do(catalogue: Catalogue, slug: str, dtype: str) -> None:
    problem = variant_of(catalogue.get(slug).problem, dtype)
    for case in problem.sizes.cpu:
        call = Call.draw(problem, case, np.random.default_rng(6))
        factors = problem.factors(case, call.inputs)
        assert factors is not None
        (expected,) = call.expected.values()
        np.testing.assert_allclose(exact(factors).reshape(expected.shape), expected, rtol=1e-12, atol=1e-9)
        answer = expected.astype(next(p.dtype for p in problem.parameters if p.output))
        check = check_product(answer, factors, problem.tolerance, np.random.default_rng(7))
        assert check.comparison.passed
        condition = problem.condition(case, call.inputs, call.expected)[factors.output]
        whole = compare(answer, expected, condition, problem.tolerance)
        assert check.comparison.max_units <= whole.max_units * (1 + 1e-5) + 1e-9


def test_only_plain_products_have_factors(catalogue: Catalogue) -> None:
    rng = np.random.default_rng(8)
    having = []
    for entry in catalogue.entries():
        case = entry.problem.sizes.cpu[0]
        if entry.problem.factors(case, entry.problem.inputs(case, rng)) is not None:
            having.append(entry.problem.slug)
    assert sorted(having) == sorted((*PLAIN_PRODUCTS, *PACKED_PRODUCTS))
