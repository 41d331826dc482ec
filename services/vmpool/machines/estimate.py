"""How long a machine takes to become ready, judged by those before it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import timedelta

HISTORY = 20
"""How many of the latest starts count: enough for a steady median, few enough to follow a provider that changes."""


@dataclass(frozen=True)
class Start:
    """A start that succeeded: at which backend of the provider, and how long it took from wanted to ready."""

    backend: str
    time: timedelta


@dataclass(frozen=True)
class StartEstimate:
    """The time that half, and nine tenths, of such starts did not exceed."""

    p50: timedelta
    p90: timedelta


def start_estimate(newest_first: Sequence[Start], backend: str) -> StartEstimate | None:
    """From the latest starts at the same backend, or at any where it has none yet; None while there is no history."""
    alike = [start for start in newest_first if start.backend == backend] or newest_first
    times = [start.time for start in alike[:HISTORY]]
    return StartEstimate(quantile(times, 50), quantile(times, 90)) if times else None


def quantile(times: Sequence[timedelta], percent: int) -> timedelta:
    """The nearest-rank percentile, which is one of the times; there must be some."""
    rank = max(1, -(-len(times) * percent // 100))
    return sorted(times)[rank - 1]
