"""Figures of many jobs together: how many ended how, how long they waited and ran, and what their GPU time was for."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np


class Grouping(StrEnum):
    """What jobs are put together by."""

    ALL = "all"
    USER = "user"
    QUEUE = "queue"
    MACHINE = "machine"
    PROBLEM = "problem"
    GPU_TYPE = "gpu_type"


@dataclass(frozen=True)
class Spread:
    """The times, in seconds, that 50 % and 90 % of some times do not exceed."""

    p50: float
    p90: float


def spread_of(micros: str) -> Spread | None:
    """The spread, by nearest rank, of times in whole microseconds with commas between them; None if there are none.

    A report reads a hundred thousand of them at once, so numpy does.
    """
    if not micros:
        return None
    times = np.fromstring(micros, dtype=np.int64, sep=",")
    ranks = [max(0, -(-len(times) * percent // 100) - 1) for percent in (50, 90)]
    times.partition(ranks)
    p50, p90 = (float(times[rank]) / 1e6 for rank in ranks)
    return Spread(p50, p90)


@dataclass(frozen=True)
class JobFigures:
    """The figures of one group over a period.

    `jobs` ended in the period: `succeeded` with a verdict about the submission, `accepted` with ACCEPTED, `failed` by
    our fault, and the rest were cancelled. `lost_attempts` ended by our fault, the last ones of failed jobs among them,
    but not those that somebody stopped. `useful_gpu_seconds` went into runs that came to a verdict, `paid_gpu_seconds`
    is the GPU time that leases held. `gflops` is the highest mean rate of a benchmark; 0 without one.
    """

    group: str
    jobs: int
    succeeded: int
    accepted: int
    failed: int
    cancelled: int
    lost_attempts: int
    wait: Spread | None
    run: Spread | None
    useful_gpu_seconds: float
    paid_gpu_seconds: float
    gflops: float

    @property
    def efficiency(self) -> float | None:
        """Useful over paid GPU seconds; None if nothing was paid for."""
        return self.useful_gpu_seconds / self.paid_gpu_seconds if self.paid_gpu_seconds > 0 else None
