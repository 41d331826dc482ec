"""Statistics of timed samples. Nothing is trimmed and no outlier is dropped."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

CONFIDENCE = 0.95
"""Of the interval of the median."""


@dataclass(frozen=True)
class Summary:
    """Samples in brief, in the samples' own unit. `ci_low`..`ci_high` is the interval of the median."""

    count: int
    median: float
    ci_low: float
    ci_high: float
    minimum: float
    p5: float
    p25: float
    p75: float
    p95: float
    p99: float
    maximum: float
    mad: float

    @property
    def iqr(self) -> float:
        """The interquartile range."""
        return self.p75 - self.p25


def summarise(samples: Sequence[float]) -> Summary:
    """Raises ValueError for no samples."""
    if not samples:
        raise ValueError("no samples")
    ordered = np.sort(np.asarray(samples, np.float64))
    median = float(np.median(ordered))
    low, high = median_ranks(len(ordered))
    p5, p25, p75, p95, p99 = (float(value) for value in np.percentile(ordered, (5, 25, 75, 95, 99)))
    return Summary(
        count=len(ordered),
        median=median,
        ci_low=float(ordered[low]),
        ci_high=float(ordered[high]),
        minimum=float(ordered[0]),
        p5=p5,
        p25=p25,
        p75=p75,
        p95=p95,
        p99=p99,
        maximum=float(ordered[-1]),
        mad=float(np.median(np.abs(ordered - median))),
    )


@lru_cache(maxsize=4096)
def median_ranks(count: int) -> tuple[int, int]:
    """Ranks (from 0, in ascending order) between which the median lies with at least CONFIDENCE, for any distribution.

    Below six samples no two ranks are that sure: the answer is then the first and the last.
    """
    allowed = (1 - CONFIDENCE) / 2
    log_total = count * math.log(2)
    tail, rank = 0.0, 0
    while rank < count // 2:
        log_ways = math.lgamma(count + 1) - math.lgamma(rank + 1) - math.lgamma(count - rank + 1)
        tail += math.exp(log_ways - log_total)
        if tail > allowed:
            break
        rank += 1
    low = max(rank - 1, 0)
    return low, count - 1 - low


def relative_half_width(ordered: Sequence[float]) -> float:
    """Half the width of the median's interval over the median, for samples in ascending order."""
    low, high = median_ranks(len(ordered))
    middle = len(ordered) // 2
    median = ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
    return (ordered[high] - ordered[low]) / 2 / median if median > 0 else math.inf


def geometric_mean(values: Sequence[float]) -> float:
    """In log space, so that no product overflows; NaN unless every value is positive and finite."""
    if not values or not all(0 < value < math.inf for value in values):
        return math.nan
    return math.exp(math.fsum(math.log(value) for value in values) / len(values))
