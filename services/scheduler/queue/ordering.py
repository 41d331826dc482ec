"""Orders the waiting jobs of a queue, and queues among each other.

In a queue, the longest wait goes first, with each point of priority worth some waiting time. All jobs age at the same
pace, so the order of two jobs never changes: a higher priority has the effect of an earlier submission. A job that
comes later than the whole range of priorities is worth goes behind, whatever its priority, so no job waits for ever
behind urgent ones.

Among queues, the one goes first that would have the smallest part of its fair share with one job more. That is the
order in which free GPUs are given to them if none of their jobs ends.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from datetime import datetime, timedelta

    from services.scheduler.jobs.job import Job

Rank = tuple["datetime", str]
WHOLE_GPU_MILLI = 1000


class Claim(NamedTuple):
    """What a queue has, and its fair share, in thousandths of a GPU."""

    used: int = 0
    fair_share: int = WHOLE_GPU_MILLI

    def turn(self, earlier: int) -> float:
        """The turn of the job behind `earlier` ones of the queue: smaller turns come first."""
        return (self.used + (earlier + 1) * WHOLE_GPU_MILLI) / max(self.fair_share, WHOLE_GPU_MILLI)

    def earlier_than(self, turn: float, waiting: int) -> int:
        """Number of the queue's `waiting` jobs that come before that turn."""
        jobs = (turn * max(self.fair_share, WHOLE_GPU_MILLI) - self.used) / WHOLE_GPU_MILLI
        return min(waiting, max(0, math.ceil(jobs) - 1))


def rank(job: Job, waiting_per_point: timedelta) -> Rank:
    """Sort key of a job in its queue: a smaller one runs earlier; the id makes the order total."""
    return (job.create_time - job.spec.priority * waiting_per_point, job.job_id)
