"""Estimates the time until a machine is ready from earlier starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

HISTORY = 20
"""Number of latest starts that count: enough for a steady median, few enough to follow a provider that changes."""


@dataclass(frozen=True)
class Start:
    """A successful start: the backend of the provider, and the time from wanted to ready."""

    backend: str
    time: timedelta


@dataclass(frozen=True)
class StartEstimate:
    """The times within which half, and nine tenths, of such starts were ready."""

    p50: timedelta
    p90: timedelta


def start_estimate(newest_first: Sequence[Start], backend: str) -> StartEstimate | None:
    """Estimate from the latest starts at the backend, or at any if it has none yet; None if there is no history."""
    alike = [start for start in newest_first if start.backend == backend] or newest_first
    times = [start.time for start in alike[:HISTORY]]
    return StartEstimate(quantile(times, 50), quantile(times, 90)) if times else None


def quantile(times: Sequence[timedelta], percent: int) -> timedelta:
    """The nearest-rank percentile, which is one of the times. `times` must not be empty."""
    rank = max(1, -(-len(times) * percent // 100))
    return sorted(times)[rank - 1]
