"""Freivalds' check: whether a matrix is the product of two others, for a small share of what the product takes.

The columns of C are taken in groups of s. For a group and a vector x of random signs, drawn after C was given, C x is
compared with A (B x), row by row. Where C is not A B, the difference is E x, with E the errors of the group:

1. Honest rounding. Let every |e_ij| be within the tolerance t_ij. By Hoeffding's inequality |sum_j e_ij x_j| exceeds
   r * |t_i| with a probability of at most 2 exp(-r^2 / 2), where |t_i| is the Euclidean norm over the group. r is such
   that all comparisons together give a false alarm with a probability of 2^-64 at most. |t_i| itself would take the
   product |A| |B|; Minkowski's inequality bounds its row i by sum_k |a_ik| |b_k|, with |b_k| that of row k of B. An
   output's own rounding scales with |expected|, which is at most |actual| + t.
2. Errors. Of the two signs that x may have at an element, at least one makes the sum as large as that element's error.
   So a row in which one error is above the bound is found with a probability of 1/2 for each vector, 1 - 2^-v for v.
   A skipped tile adds up: 1 % of all columns make a row's sum ten times that of one element.

What is below the bound is left to whole rows, chosen at random, that are compared element by element.

R. Freivalds, "Probabilistic machines can use less running time", IFIP Congress 1977; W. Hoeffding, "Probability
inequalities for sums of bounded random variables", JASA 58 (1963).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log, prod, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from problems.kit.comparison import Comparison, compare
from problems.kit.definition import Tolerance
from problems.kit.element_types import spacing_at_one, underflow
from problems.kit.factors import Factors
from problems.kit.imprecision import Precision, precision_of
from problems.kit.rounding import sum_condition
from problems.kit.threads import on_threads

Matrix = NDArray[np.float64]

VECTORS = 8
"""An error above the bound is missed with a probability of 2^-8 by one check; every call has its own."""
GROUP_COLUMNS = 512
"""Columns that one sum is over: with eight vectors the check takes 1/64 of the product."""
FALSE_ALARM_BITS = 64
COMPARED_ROWS = 16
"""Rows that are compared element by element, and as many more of those that the check suspects."""
BLOCK_ELEMENTS = 1 << 22
"""Of the product, or of its left factor, that one thread looks at together."""
_FP64_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Projection:
    """B and the random signs, group by group.

    `signs` is n x v, `products` holds B x (k x groups x v), and `norms` those of B's rows in each group (k x groups).
    """

    signs: Matrix
    products: Matrix
    norms: Matrix


def suspicious_rows(
    product: NDArray[Any],
    factors: Factors,
    tolerance: Tolerance,
    rng: np.random.Generator,
    vectors: int = VECTORS,
    block_elements: int = BLOCK_ELEMENTS,
) -> NDArray[np.intp]:
    """The rows of `product` (m x n) that cannot be within `tolerance`; those with NaN or an infinity are among them.

    `rng` must be one that the maker of `product` could not know.
    """
    projection = _projection(factors.right, rng, vectors)
    rows, (_, groups, _) = product.shape[0], projection.products.shape
    radius = sqrt(2.0 * (log(2.0 * rows * groups * vectors) + FALSE_ALARM_BITS * log(2.0)))
    step = max(1, block_elements // max(1, product.shape[1], factors.left.shape[1]))

    def found(start: int) -> NDArray[np.intp]:
        """In some rows, so that no second copy of a large matrix is made."""
        some = slice(start, start + step)
        part, left = product[some].astype(np.float64), factors.left[some].astype(np.float64)
        return start + _found(part, left, projection, factors, (tolerance, radius, product.dtype))

    return np.concatenate([np.zeros(0, np.intp), *on_threads(found, range(0, rows, step))])


def _projection(right: NDArray[Any], rng: np.random.Generator, vectors: int) -> Projection:
    depth, columns = right.shape
    signs = rng.integers(0, 2, (columns, vectors)).astype(np.float64) * 2.0 - 1.0
    starts = range(0, columns, GROUP_COLUMNS)
    products, norms = np.empty((depth, len(starts), vectors)), np.empty((depth, len(starts)))
    for group, start in enumerate(starts):
        part = right[:, start : start + GROUP_COLUMNS].astype(np.float64)
        products[:, group] = part @ signs[start : start + GROUP_COLUMNS]
        norms[:, group] = _row_norms(part)
    return Projection(signs, products, norms)


def _found(
    part: Matrix,
    left: Matrix,
    projection: Projection,
    factors: Factors,
    limits: tuple[Tolerance, float, np.dtype[Any]],
) -> NDArray[np.intp]:
    finite = np.isfinite(part)
    part = np.where(finite, part, 0.0)
    depth, groups, vectors = projection.products.shape
    expected = (left @ projection.products.reshape(depth, -1)).reshape(-1, groups, vectors)
    size_of_terms = np.abs(left) @ projection.norms
    wrong = ~finite.all(axis=1)
    for group in range(groups):
        columns = slice(group * GROUP_COLUMNS, (group + 1) * GROUP_COLUMNS)
        values = part[:, columns]
        bound = _bound(_row_norms(values), size_of_terms[:, group], (values.shape[1], depth), factors, limits)
        difference = np.abs(values @ projection.signs[columns] - expected[:, group])
        wrong |= (difference > bound[:, None]).any(axis=1)
    return np.flatnonzero(wrong)


def _bound(
    actual: Matrix,
    terms: Matrix,
    sizes: tuple[int, int],
    factors: Factors,
    limits: tuple[Tolerance, float, np.dtype[Any]],
) -> Matrix:
    """What honest errors of a group's rows may add up to, given the norms of the rows and of their terms' sizes."""
    columns, depth = sizes
    tolerance, radius, dtype = limits
    unit = tolerance.units * spacing_at_one(dtype)
    of_output = unit * factors.roundings
    granted = of_output * actual + unit * factors.sums * sqrt(depth) * terms + sqrt(columns) * underflow(dtype)
    # The check's own arithmetic: sums of `columns` and `depth` terms in fp64, on both sides.
    own = (columns + depth) * _FP64_EPS * sqrt(columns) * (actual + terms)
    return radius * granted / (1.0 - of_output) + own


def _row_norms(matrix: Matrix) -> Matrix:
    return np.sqrt(np.einsum("ij,ij->i", matrix, matrix))


@dataclass(frozen=True)
class RowCheck:
    """The rows of a product that were compared element by element.

    `precision` is that of a failed comparison. `rows` are their numbers; the arrays have these rows.
    """

    comparison: Comparison
    precision: Precision | None
    rows: NDArray[np.intp]
    actual: NDArray[Any]
    expected: NDArray[np.float64]
    condition: NDArray[np.float64]


def check_product(output: NDArray[Any], factors: Factors, tolerance: Tolerance, rng: np.random.Generator) -> RowCheck:
    """Check all of an output by Freivalds' check, and compare the rows that it suspects, and some more."""
    product = output.reshape(factors.left.shape[0], factors.right.shape[1])
    suspected = suspicious_rows(product, factors, tolerance, rng)[:COMPARED_ROWS]
    last = product.shape[0] - 1
    drawn = rng.integers(0, product.shape[0], COMPARED_ROWS - 1)
    rows = np.unique(np.concatenate((suspected, drawn, [last])))
    return _compared(output, product[rows], rows, factors, tolerance)


def _compared(
    output: NDArray[Any], actual: NDArray[Any], rows: NDArray[np.intp], factors: Factors, tolerance: Tolerance
) -> RowCheck:
    left = factors.left[rows]
    expected = left.astype(np.float64) @ factors.right.astype(np.float64)
    # The bound needs no more than single precision: it is a sum of positive terms.
    absolute = (np.abs(left) @ np.abs(factors.right)).astype(np.float64)
    condition = factors.roundings * np.abs(expected) + factors.sums * sum_condition(absolute, left.shape[1])
    comparison = compare(actual, expected, condition, tolerance)
    precision = None if comparison.passed else precision_of(actual, expected, condition, tolerance)
    return RowCheck(_as_in(output.shape, comparison, rows), precision, rows, actual, expected, condition)


def _as_in(shape: tuple[int, ...], comparison: Comparison, rows: NDArray[np.intp]) -> Comparison:
    """The comparison with the indices that mismatches have in the whole output."""
    columns = prod(shape) // (prod(shape[:-1]) or 1)
    flat = (int(rows[item.index[0]]) * columns + item.index[1] for item in comparison.first)
    indices = [tuple(int(part) for part in np.unravel_index(at, shape)) for at in flat]
    first = [replace(item, index=index) for item, index in zip(comparison.first, indices, strict=True)]
    return replace(comparison, first=tuple(first))
