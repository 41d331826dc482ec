"""Exact answers by Python's own integers, and by other algorithms."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from problems.library.catalogue import Catalogue
from tests.problems.honest import Inputs, wrong_cases

P = 2**31 - 1


def products(v: Inputs) -> NDArray[Any]:
    pairs = zip(v["d_input1"].tolist(), v["d_input2"].tolist(), strict=True)
    return np.array([a * b % P for a, b in pairs], np.uint32)


def polynomial(v: Inputs) -> NDArray[Any]:
    """Kronecker's substitution: coefficients so far apart in one long integer that none reaches the next."""
    width = 80
    one, other = (sum(c << (width * i) for i, c in enumerate(v[name].tolist())) for name in ("d_input1", "d_input2"))
    whole, mask = one * other, (1 << width) - 1
    return np.array([(whole >> (width * k) & mask) % P for k in range(2 * v["n"] - 1)], np.uint32)


def negated(v: Inputs) -> NDArray[Any]:
    points = [(x, -y % v["p"]) for x, y in zip(v["xs"].tolist(), v["ys"].tolist(), strict=True)]
    return np.array(points, np.uint64)


def radix_sorted(v: Inputs) -> NDArray[Any]:
    values = v["a"]
    for shift in range(0, 30, 10):
        values = values[np.argsort((values >> shift) & 1023, kind="stable")]
    return values


def test_products_by_long_integers_are_right(catalogue: Catalogue) -> None:
    assert wrong_cases(catalogue, "vector-multiply-ff", products) == []


def test_products_that_overflow_are_wrong(catalogue: Catalogue) -> None:
    assert len(wrong_cases(catalogue, "vector-multiply-ff", lambda v: v["d_input1"] * v["d_input2"] % np.uint32(P))) > 8


def test_a_product_by_one_long_multiplication_is_right(catalogue: Catalogue) -> None:
    assert wrong_cases(catalogue, "poly-multiply-ff", polynomial) == []


def test_points_negated_by_long_integers_are_right(catalogue: Catalogue) -> None:
    assert wrong_cases(catalogue, "ecc-point-negation", negated) == []


def test_the_negative_of_zero_is_zero(catalogue: Catalogue) -> None:
    def answer(v: Inputs) -> NDArray[Any]:
        return np.stack([v["xs"], np.uint64(v["p"]) - v["ys"]], axis=1)

    assert len(wrong_cases(catalogue, "ecc-point-negation", answer)) > 5


def test_a_radix_sort_of_thirty_bits_is_right(catalogue: Catalogue) -> None:
    assert wrong_cases(catalogue, "array-sort", radix_sorted) == []


def test_a_tile_alone_in_order_is_not_sorted(catalogue: Catalogue) -> None:
    assert wrong_cases(catalogue, "array-sort", lambda v: np.sort(v["a"].reshape(-1, 8192), axis=1).reshape(-1))
