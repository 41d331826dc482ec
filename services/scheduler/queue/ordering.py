"""Orders waiting jobs: the longest wait first, with each point of priority worth some waiting time.

All jobs age at the same pace, so the order of two jobs never changes: a higher priority has the effect of an earlier
submission. A job that comes later than the whole range of priorities is worth goes behind, whatever its priority, so no
job waits for ever behind urgent ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime, timedelta

    from services.scheduler.jobs.job import Job

Rank = tuple["datetime", str]


def rank(job: Job, waiting_per_point: timedelta) -> Rank:
    """Sort key of a job: a smaller one runs earlier; the id makes the order total."""
    return (job.create_time - job.spec.priority * waiting_per_point, job.job_id)


def in_order(jobs: Iterable[Job], waiting_per_point: timedelta) -> list[Job]:
    """Sorts the jobs, the next one first."""
    return sorted(jobs, key=lambda job: rank(job, waiting_per_point))


def ahead(job: Job, waiting: Iterable[Job], waiting_per_point: timedelta) -> list[Job]:
    """The waiting jobs before this one that share a GPU type with it, the next one first."""
    own, gpu_types = rank(job, waiting_per_point), set(job.spec.gpu_types)
    before = [other for other in waiting if rank(other, waiting_per_point) < own]
    return in_order((other for other in before if not gpu_types.isdisjoint(other.spec.gpu_types)), waiting_per_point)
