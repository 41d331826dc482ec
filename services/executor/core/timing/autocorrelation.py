"""The number of independent samples that a series of timed calls is worth.

Neighbouring samples of one process are alike: a clock is regulated over many calls. A confidence interval that takes
them for independent is too narrow, and a rule that stops by such an interval stops by luck. For the median only one
thing counts: whether samples lie above or below it. So the series of these signs is examined. The integrated
autocorrelation time comes from Geyer's initial positive sequence (C. J. Geyer, Practical Markov Chain Monte Carlo,
Statistical Science 7, 1992): the correlations of two neighbouring lags are added up as long as their sum is positive.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

FEWEST = 20
"""The fewest samples whose correlation can be told from chance."""


def correlation_time(samples: Sequence[float]) -> float:
    """The number of samples per independent sample, 1 or more; `samples` are in the order in which they were taken."""
    count = len(samples)
    if count < FEWEST:
        return 1.0
    values = np.asarray(samples, np.float64)
    signs = np.sign(values - np.median(values))
    signs -= signs.mean()
    correlations = _correlations(signs)
    if correlations is None:
        return 1.0
    pairs = correlations[: count // 2 * 2].reshape(-1, 2).sum(axis=1)
    positive = np.argmax(pairs <= 0) if (pairs <= 0).any() else len(pairs)
    return min(max(1.0, 2 * float(pairs[:positive].sum()) - 1.0), float(count))


def _correlations(series: NDArray[np.float64]) -> NDArray[Any] | None:
    """The correlation at each lag, by the transform of the padded series; None for a series that never changes."""
    count = len(series)
    spectrum = np.fft.rfft(series, 1 << (2 * count - 1).bit_length())
    covariance = np.fft.irfft(np.abs(spectrum) ** 2)[:count]
    return covariance / covariance[0] if covariance[0] > 0 else None
