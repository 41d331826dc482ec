"""How far a mean time is known."""

from __future__ import annotations

from collections.abc import Iterable
from math import fsum, isfinite
from typing import Protocol


class TimedCase(Protocol):
    """The time of a case, and its interval."""

    runtime_ns: float
    ci_low_ns: float
    ci_high_ns: float


def interval_of_mean(cases: Iterable[TimedCase]) -> float:
    """Half the width of the interval of a geometric mean, over the mean; 0 if nothing is known of it.

    The mean is within this if each case is within its own interval.
    """
    shares = [(one.ci_high_ns - one.ci_low_ns) / 2 / one.runtime_ns for one in cases if one.runtime_ns > 0]
    known = [share for share in shares if isfinite(share)]
    return max(0.0, fsum(known) / len(known)) if known else 0.0
