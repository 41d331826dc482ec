"""Estimates how long a job will wait, from the times of the last runs; gives no estimate without history."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import timedelta

# Fewer runs say too little about the slowest tenth of them.
LEAST_HISTORY = 3


@dataclass(frozen=True)
class WaitEstimate:
    """The waits that 50 % and 90 % of such jobs do not exceed."""

    p50: timedelta
    p90: timedelta


def wait_estimate(position: int, slots: int, free_slots: int, run_times: Sequence[timedelta]) -> WaitEstimate | None:
    """Estimate of the wait of the job at `position` (from 1) for `slots` machines, `free_slots` of them free.

    Each full round of the slots ahead of it takes one run: the median run for p50, the 90th percentile for p90. None if
    there is no machine or too little history.
    """
    if slots < 1 or len(run_times) < LEAST_HISTORY:
        return None
    rounds = -(-max(0, position - free_slots) // slots)
    return WaitEstimate(rounds * percentile(run_times, 50), rounds * percentile(run_times, 90))


def percentile(values: Sequence[timedelta], percent: int) -> timedelta:
    """Nearest-rank percentile of values that are not empty."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]
