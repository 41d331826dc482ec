"""Statistics of timed samples. Nothing is trimmed and no outlier is dropped."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from services.executor.core.timing.autocorrelation import correlation_time

CONFIDENCE = 0.95
"""The confidence level of the median's interval."""
_FEWEST_FOR_BIMODALITY = 4


@dataclass(frozen=True)
class Summary:
    """A summary of samples, in their own unit.

    `ci_low`..`ci_high` is the interval of the median, as wide as `correlation_time` (samples per independent sample)
    requires. `bimodality` is Sarle's coefficient: it is 5/9 for uniform samples, and above that two modes or a long
    tail are likely. It is NaN if all samples are alike, or if there are fewer than four.
    """

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
    bimodality: float
    correlation_time: float

    @property
    def iqr(self) -> float:
        """The interquartile range."""
        return self.p75 - self.p25


def summarise(samples: Sequence[float]) -> Summary:
    """Summarises samples in the order in which they were taken; raises ValueError if there are none."""
    if not samples:
        raise ValueError("no samples")
    ordered = np.sort(np.asarray(samples, np.float64))
    median = float(np.median(ordered))
    time = correlation_time(samples)
    low, high = correlated_ranks(len(ordered), time)
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
        bimodality=_bimodality(ordered),
        correlation_time=time,
    )


def _bimodality(samples: NDArray[np.float64]) -> float:
    """Sarle's coefficient with the corrections for small samples that SAS documents (PROC CLUSTER)."""
    count, deviation = len(samples), samples - samples.mean()
    variance = float((deviation**2).mean())
    if count < _FEWEST_FOR_BIMODALITY or variance <= (1e-12 * float(np.abs(samples).max())) ** 2:
        return math.nan
    normal = deviation / math.sqrt(variance)
    skewness = float((normal**3).mean()) * math.sqrt(count * (count - 1)) / (count - 2)
    excess = float((normal**4).mean()) - 3
    kurtosis = (count - 1) / ((count - 2) * (count - 3)) * ((count + 1) * excess + 6)
    return (skewness**2 + 1) / (kurtosis + 3 * (count - 1) ** 2 / ((count - 2) * (count - 3)))


@lru_cache(maxsize=4096)
def median_ranks(count: int) -> tuple[int, int]:
    """Ranks (from 0, in ascending order) between which the median lies with at least CONFIDENCE, for any distribution.

    Below six samples no two ranks are that sure: the result is then the first and the last.
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


def correlated_ranks(count: int, correlation_time: float) -> tuple[int, int]:
    """The same ranks for dependent samples, `correlation_time` of which make an independent one.

    Relative to the number of samples, the distance from the middle shrinks with the root of the number of independent
    ones. So here it is larger by the root of `correlation_time`.
    """
    low, _ = median_ranks(count)
    middle = (count - 1) / 2
    low = max(0, math.floor(middle - (middle - low) * math.sqrt(correlation_time)))
    return low, count - 1 - low


def relative_half_width(ordered: Sequence[float], correlation_time: float = 1.0) -> float:
    """Half the width of the median's interval over the median, for samples in ascending order."""
    low, high = correlated_ranks(len(ordered), correlation_time)
    middle = len(ordered) // 2
    median = ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
    return (ordered[high] - ordered[low]) / 2 / median if median > 0 else math.inf


def interval_of_sessions(sessions: Sequence[Sequence[float]]) -> tuple[float, float]:
    """The interval of the median of all samples; each session's samples are in the order in which they were taken.

    If sessions differ, there may be too few independent samples for any two ranks to be that sure. The shortest and the
    longest sample are then no answer, as either may be a single call that had to wait for a processor. So the interval
    goes from the lowest to the highest end of the sessions' own intervals. Raises ValueError if there are no samples.
    """
    samples = [sample for session in sessions for sample in session]
    whole = summarise(samples)
    if correlated_ranks(whole.count, whole.correlation_time)[0] > 0:
        return whole.ci_low, whole.ci_high
    each = [summarise(session) for session in sessions if session]
    return min(one.ci_low for one in each), max(one.ci_high for one in each)


def geometric_mean(values: Sequence[float]) -> float:
    """The geometric mean, in log space so that no product overflows; NaN unless every value is positive and finite."""
    if not values or not all(0 < value < math.inf for value in values):
        return math.nan
    return math.exp(math.fsum(math.log(value) for value in values) / len(values))
