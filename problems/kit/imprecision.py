"""How imprecise a rejected output is, and whether cheaper arithmetic explains it.

An output that is outside its tolerance is either wrong or imprecise. It is called imprecise where a narrower format F
explains every error:

1. no element has another class than the reference (NaN, infinity, finite),
2. the problem would accept the output if it were defined in F: |error| <= units * eps(F) * condition,
3. no error is large beside the outputs: |error| <= 16 * eps(F) * (the larger of the element and what is usual for an
   output of its condition), and never above 15 % of that,
4. errors go both ways, as rounding errors do, up and down, and away from 0 and towards it: either sum is at most half
   the sum of their absolute values. Work that was skipped makes sums of positive terms too small, all of them; a
   constant with too few digits makes all outputs too large, or too small. Or the output consists of values of F alone,
   where the reference does not: then it was rounded to F,
5. the output tells the elements of the reference apart: the median error is at most a quarter of the elements' median
   distance from their median. Where all elements are nearly alike, any constant looks like a rounded answer,
6. the largest error is as large as arithmetic in F makes it (again, unless the output consists of values of F). One
   rounding to F errs by up to eps(F) / 2 of what it rounds, and among many elements the largest comes near that. Where
   it is the n terms of a sum that are rounded, and the sum is wide, their errors cancel in part: by Cauchy and Schwarz
   the root of the sum of their squares is at least eps(F) / 2 * |output| / sqrt(n). The condition of such a sum is at
   least sqrt(n) * |output|, so 1 / sqrt(n) is at least the share |output| / condition, and the largest error at least
   eps(F) / 2 * share^2 * condition. Half of that is asked for, with a share that a tenth of the elements have.

Of few elements nothing can be said by 4 and 5: they are wrong unless they are values of F.

Errors that are smaller than 6 asks of every narrower format have another cause. The output is close all the same, if
1 and 5 hold: constants with too few digits, and approximations of functions, make such errors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from problems.kit.comparison import CHUNK_ELEMENTS, chunks, difference_of, unit_of
from problems.kit.definition import Tolerance
from problems.kit.element_types import is_floating, spacing_at_one, underflow

FORMATS: Mapping[str, np.dtype[Any]] = {
    "float32": np.dtype(np.float32),
    "float16 or tf32": np.dtype(np.float16),
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
    "float8": np.dtype(ml_dtypes.float8_e4m3fn),
}
"""From the most precise on."""
_LARGE_IN_EPS = 16.0
_LARGE_SHARE = 0.15
_ONE_SIDED = 0.5
_LEAST_IN_EPS = 0.25
_LARGE_SHARES = 90
_OF_THE_SPREAD = 0.25
_FEWEST_FOR_SIGNS = 16
_MOST_OF = 0.99
_FEW_OF = 0.5
_SAMPLED_ELEMENTS = 1 << 20
_TAIL = 99.9


@dataclass(frozen=True)
class Precision:
    """Errors of an output in units of eps * condition, of which `allowed_units` are granted.

    `p999_units` is the size that 99.9 % of them stay below (of an even sample, where there are very many elements),
    `bias_units` the mean of the signed errors. `format` names the narrower format that explains them, if one does.
    `is_close` says that they are too small for any narrower format.
    """

    max_units: float
    p999_units: float
    bias_units: float
    allowed_units: float
    format: str | None
    is_close: bool = False


def precision_of(
    actual: NDArray[Any], expected: NDArray[Any], condition: NDArray[Any], tolerance: Tolerance
) -> Precision:
    """The precision of one output; takes a pass over it for each format, so it is for outputs that failed."""
    step = max(1, actual.size // _SAMPLED_ELEMENTS)
    sizes: list[NDArray[np.float64]] = []
    total, count, largest = 0.0, 0, 0.0
    for _, part, reference, scale in chunks(actual, expected, condition):
        error = difference_of(part, reference) / unit_of(part.dtype, scale, tolerance)
        known = error[~np.isnan(error)]
        total, count = total + float(known.sum()), count + known.size
        largest = float(np.abs(known).max(initial=largest))
        sizes.append(np.abs(known[::step]))
    sample = np.concatenate(sizes) if sizes else np.zeros(0)
    format_, is_close = _explaining(actual, expected, condition, tolerance)
    return Precision(
        max_units=largest,
        p999_units=float(np.percentile(sample, _TAIL)) if sample.size else 0.0,
        bias_units=total / count if count else 0.0,
        allowed_units=tolerance.units,
        format=format_,
        is_close=is_close,
    )


def _explaining(
    actual: NDArray[Any], expected: NDArray[Any], condition: NDArray[Any], tolerance: Tolerance
) -> tuple[str | None, bool]:
    """The format that explains the errors, and whether they are too small for all of them."""
    if not is_floating(actual.dtype) or not _tells_apart(actual, expected):
        return None, False
    own = spacing_at_one(actual.dtype)
    usual, large = _shares(expected, condition)
    narrower = {name: dtype for name, dtype in FORMATS.items() if spacing_at_one(dtype) > own}
    error = _largest_error(actual, expected, condition)
    goes_both_ways = _goes_both_ways(actual, expected, condition, tolerance)
    for name, dtype in narrower.items():
        eps = spacing_at_one(dtype)
        if _is_explained(actual, expected, condition, tolerance, (eps, usual)) and (
            (goes_both_ways and error >= _LEAST_IN_EPS * eps * large**2) or _consists_of(dtype, actual, expected)
        ):
            return name, False
    least = min((spacing_at_one(dtype) for dtype in narrower.values()), default=0.0)
    return None, tolerance.units > 0 and error < _LEAST_IN_EPS * least * large**2


def _largest_error(actual: NDArray[Any], expected: NDArray[Any], condition: NDArray[Any]) -> float:
    """As a share of the condition; infinite where an element has another class than the reference."""
    largest = 0.0
    for _, part, reference, scale in chunks(actual, expected, condition):
        share = np.abs(difference_of(part, reference)) / np.fmax(scale, underflow(part.dtype))
        largest = max(largest, float(np.where(np.isnan(share), np.inf, share).max(initial=0.0)))
    return largest


def _shares(expected: NDArray[Any], condition: NDArray[Any]) -> tuple[float, float]:
    """The median of |output| / condition, which is well below 1 where terms cancel, and what a tenth exceed."""
    step = max(1, expected.size // _SAMPLED_ELEMENTS)
    size = np.abs(expected.reshape(-1)[::step].astype(np.float64))
    scale = np.broadcast_to(condition, expected.shape).reshape(-1)[::step]
    with np.errstate(all="ignore"):
        shares = size / scale
    known = shares[np.isfinite(shares)]
    return (float(np.median(known)), float(np.percentile(known, _LARGE_SHARES))) if known.size else (0.0, 0.0)


def _is_explained(
    actual: NDArray[Any],
    expected: NDArray[Any],
    condition: NDArray[Any],
    tolerance: Tolerance,
    format_figures: tuple[float, float],
) -> bool:
    """Rules 1 to 3."""
    eps, usual = format_figures
    large = min(_LARGE_IN_EPS * eps, _LARGE_SHARE)
    for _, part, reference, scale in chunks(actual, expected, condition):
        error = np.abs(difference_of(part, reference))
        own = unit_of(part.dtype, scale, tolerance) * tolerance.units
        with np.errstate(all="ignore"):
            allowed = large * np.fmax(np.abs(reference).astype(np.float64), usual * scale)
            if tolerance.units:
                allowed = np.fmin(allowed, tolerance.units * eps * scale)
        if not (error <= np.fmax(allowed, own)).all():
            return False
    return True


def _tells_apart(actual: NDArray[Any], expected: NDArray[Any]) -> bool:
    """Rule 5."""
    if actual.size < _FEWEST_FOR_SIGNS:
        return actual.size > 0
    step = max(1, actual.size // _SAMPLED_ELEMENTS)
    reference = expected.reshape(-1)[::step].astype(np.float64)
    with np.errstate(all="ignore"):
        error = np.abs(actual.reshape(-1)[::step].astype(np.float64) - reference)
        spread = np.abs(reference - np.median(reference[np.isfinite(reference)]))
    known = np.isfinite(error) & np.isfinite(spread)
    return bool(known.any()) and float(np.median(error[known])) <= _OF_THE_SPREAD * float(np.median(spread[known]))


def _goes_both_ways(
    actual: NDArray[Any], expected: NDArray[Any], condition: NDArray[Any], tolerance: Tolerance
) -> bool:
    upwards, outwards, absolute, count = 0.0, 0.0, 0.0, 0
    for _, part, reference, scale in chunks(actual, expected, condition):
        error = difference_of(part, reference) / unit_of(part.dtype, scale, tolerance)
        upwards, outwards = upwards + float(error.sum()), outwards + float((error * np.sign(reference)).sum())
        absolute, count = absolute + float(np.abs(error).sum()), count + int(np.count_nonzero(error))
    return count >= _FEWEST_FOR_SIGNS and max(abs(upwards), abs(outwards)) <= _ONE_SIDED * absolute


def _consists_of(dtype: np.dtype[Any], actual: NDArray[Any], expected: NDArray[Any]) -> bool:
    """Whether the output was rounded to a format, by its first elements that are not 0."""
    nonzero = np.flatnonzero(actual.reshape(-1))[:CHUNK_ELEMENTS]
    if nonzero.size == 0:
        return False
    found, right = actual.reshape(-1)[nonzero], expected.reshape(-1)[nonzero].astype(actual.dtype)
    return _share_of(dtype, found) >= _MOST_OF and _share_of(dtype, right) <= _FEW_OF


def _share_of(dtype: np.dtype[Any], values: NDArray[Any]) -> float:
    with np.errstate(all="ignore"):
        same = values.astype(dtype).astype(values.dtype) == values
    return int(np.count_nonzero(same)) / values.size
