"""The element-wise comparison of an output with its fp64 reference: what decides right from wrong.

A floating-point element is right when it is of the same class as the reference rounded to the output's type (NaN,
+Inf, -Inf or finite; no class stands for another) and, if finite, |actual - expected| <= units * eps * condition.
`eps` is the spacing of the output's type at 1. Where `units` is not 0, a difference up to the smallest normal number
is right too, as devices may flush smaller results to zero (those of half they keep: there it is one spacing of them).
Integers, and all outputs at `units` 0, must be equal.

Errors may not lean to one side either: over an output of many elements, the mean of the signed errors is at most half
of what a single element is granted. Honest kernels stay below a hundredth of that; arithmetic that always rounds one
way, or leaves out small terms, does not, however small each error is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from problems.kit.definition import Tolerance
from problems.kit.element_types import is_floating, spacing_at_one, underflow

BIAS_SHARE = 0.5
"""Of the units that are granted to an element: what the mean of the signed errors may come to."""
BIAS_ELEMENTS = 256
"""Of fewer elements the mean says too little."""
CHUNK_ELEMENTS = 1 << 16
"""Elements compared at a time, so that the temporary arrays of a large output stay in the processor's cache."""


@dataclass(frozen=True)
class Mismatch:
    """One wrong element; `difference` is actual - expected, and NaN where a class differs."""

    index: tuple[int, ...]
    expected: float
    actual: float
    difference: float


@dataclass(frozen=True)
class Comparison:
    """An output beside its reference.

    `max_difference` and `mean_difference` are of |actual - expected| over all elements of the right class, wrong or
    not. `max_units` is the largest of them in units of eps * condition, which Tolerance.units bounds (for integers
    and exact outputs: the largest difference), and `bias_units` the mean of the signed ones.
    Where the elements are some of an output, chosen by lot, `of_elements` is how many it has; 0 where they are all.
    `unexpected_nans` counts those of the mismatches that are NaN. `first` are the first mismatches in memory order.
    """

    elements: int
    mismatches: int
    unexpected_nans: int
    max_difference: float
    mean_difference: float
    max_units: float
    bias_units: float
    allowed_units: float
    one_sided: bool
    first: tuple[Mismatch, ...]
    of_elements: int = 0

    @property
    def passed(self) -> bool:
        """Whether every element is right, and the errors do not lean to one side."""
        return self.mismatches == 0 and not self.is_biased

    @property
    def is_biased(self) -> bool:
        """Whether the errors lean to one side, where they may not."""
        if self.one_sided or self.elements < BIAS_ELEMENTS:
            return False
        return abs(self.bias_units) > BIAS_SHARE * self.allowed_units > 0


def compare(
    actual: NDArray[Any], expected: NDArray[Any], condition: NDArray[Any], tolerance: Tolerance, first: int = 10
) -> Comparison:
    """Compare an output with its reference; list at most `first` mismatches.

    Raises ValueError when the shapes differ, or `condition` does not broadcast to them.
    """
    if actual.shape != expected.shape:
        raise ValueError(f"the output's shape {actual.shape} is not the reference's {expected.shape}")
    tally = _Tally(first)
    for start, part, reference, scale in chunks(actual, expected, condition):
        difference = difference_of(part, reference)
        error = difference / unit_of(part.dtype, scale, tolerance)
        tally.add(difference, error)
        tally.add_mismatches(start, np.flatnonzero(_is_wrong(error, tolerance)), part, reference, difference)
    return tally.comparison(actual.shape, tolerance)


def wrong_among(
    actual: NDArray[Any], expected: NDArray[Any], condition: NDArray[Any], tolerance: Tolerance
) -> NDArray[np.bool_]:
    """Mark the wrong ones of some elements, each beside its own reference and condition."""
    return _is_wrong(difference_of(actual, expected) / unit_of(actual.dtype, condition, tolerance), tolerance)


def _is_wrong(error: NDArray[np.float64], tolerance: Tolerance) -> NDArray[np.bool_]:
    return ~(np.abs(error) <= tolerance.units)


def joined(parts: Sequence[Comparison]) -> Comparison:
    """The comparison of all elements of parts that have no mismatch; there is at least one part."""
    elements = sum(part.elements for part in parts)
    return replace(
        parts[0],
        elements=elements,
        max_difference=max(part.max_difference for part in parts),
        mean_difference=sum(part.mean_difference * part.elements for part in parts) / elements,
        max_units=max(part.max_units for part in parts),
        bias_units=sum(part.bias_units * part.elements for part in parts) / elements,
    )


def chunks(
    actual: NDArray[Any], expected: NDArray[Any], condition: NDArray[Any]
) -> Iterator[tuple[int, NDArray[Any], NDArray[Any], NDArray[Any]]]:
    """Flat parts of the three: where they begin, and the parts."""
    scale = np.broadcast_to(condition, expected.shape).reshape(-1)
    flat_actual, flat_expected = actual.reshape(-1), expected.reshape(-1)
    for start in range(0, flat_actual.size, CHUNK_ELEMENTS):
        part = slice(start, start + CHUNK_ELEMENTS)
        yield start, flat_actual[part], flat_expected[part], scale[part]


def difference_of(actual: NDArray[Any], expected: NDArray[Any]) -> NDArray[np.float64]:
    """Return actual - expected; NaN where the classes differ, 0 where both are the same NaN or infinity."""
    if not is_floating(actual.dtype):
        return _integer_difference(actual, expected)
    # Poison may be anything, signalling NaN included, and a reference may overflow the output's type.
    with np.errstate(all="ignore"):
        difference = np.subtract(actual, expected, dtype=np.float64)
        rounded = expected.astype(actual.dtype)
        special = ~(np.isfinite(actual) & np.isfinite(rounded))
        if special.any():
            alike = (actual == rounded) | (np.isnan(actual) & np.isnan(rounded))
            difference[special] = np.where(alike[special], 0.0, np.nan)
    return difference


def _integer_difference(actual: NDArray[Any], expected: NDArray[Any]) -> NDArray[np.float64]:
    """Exact before it is rounded to float64, also between unsigned and 64-bit values."""
    if actual.dtype.itemsize < np.dtype(np.int64).itemsize:
        return np.subtract(actual, expected, dtype=np.int64, casting="unsafe").astype(np.float64)
    difference = np.zeros(actual.shape, np.float64)
    unequal = np.flatnonzero(actual != expected)
    difference[unequal] = [int(actual[at]) - int(expected[at]) for at in unequal]
    return difference


def unit_of(dtype: np.dtype[Any], condition: NDArray[Any], tolerance: Tolerance) -> NDArray[np.float64]:
    """What errors are measured in: never 0, so that results which underflow count as the docstring above says."""
    if tolerance.units == 0 or not is_floating(dtype):
        return np.ones((), np.float64)
    # fmax, as the condition of a NaN is NaN.
    return np.fmax(condition * spacing_at_one(dtype), underflow(dtype) / tolerance.units)


class _Tally:
    """Sums over the chunks."""

    def __init__(self, first: int) -> None:
        self._limit = first
        self._found: list[tuple[int, float, float, float]] = []
        self._elements = self._comparable = self._mismatches = self._nans = 0
        self._max = self._sum = self._max_units = self._sum_units = 0.0

    def add(self, difference: NDArray[np.float64], error: NDArray[np.float64]) -> None:
        comparable = ~np.isnan(difference)
        size = np.abs(difference)
        self._elements += difference.size
        self._comparable += int(np.count_nonzero(comparable))
        self._sum += float(size.sum(where=comparable))
        self._max = float(size.max(initial=self._max, where=comparable))
        self._max_units = float(np.abs(error).max(initial=self._max_units, where=comparable))
        self._sum_units += float(error.sum(where=comparable))

    def add_mismatches(
        self,
        start: int,
        wrong: NDArray[np.intp],
        actual: NDArray[Any],
        expected: NDArray[Any],
        difference: NDArray[np.float64],
    ) -> None:
        self._mismatches += wrong.size
        if is_floating(actual.dtype):
            # Of narrow types it takes a signalling NaN amiss.
            with np.errstate(invalid="ignore"):
                self._nans += int(np.isnan(actual[wrong]).sum())
        for at in wrong[: self._limit - len(self._found)]:
            values = (actual[at].item(), expected[at].item(), float(difference[at]))
            self._found.append((start + int(at), *values))

    def comparison(self, shape: tuple[int, ...], tolerance: Tolerance) -> Comparison:
        return Comparison(
            elements=self._elements,
            mismatches=self._mismatches,
            unexpected_nans=self._nans,
            max_difference=self._max,
            mean_difference=self._sum / self._comparable if self._comparable else 0.0,
            max_units=self._max_units,
            bias_units=self._sum_units / self._comparable if self._comparable else 0.0,
            allowed_units=tolerance.units,
            one_sided=tolerance.one_sided,
            first=tuple(
                Mismatch(tuple(int(i) for i in np.unravel_index(at, shape)), expected, actual, difference)
                for at, actual, expected, difference in self._found
            ),
        )
