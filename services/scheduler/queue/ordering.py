"""Which waiting job comes first: the one that has waited longest, with each point of priority worth some waiting.

All jobs age at the same pace, so the order of two jobs never changes: a job of higher priority stands where it would
stand had it come so much earlier. What comes later than the whole range of priorities is worth comes after a job
whatever its priority, so no job waits for ever behind urgent ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime, timedelta

    from services.scheduler.jobs.job import Job

Rank = tuple["datetime", str]


def rank(job: Job, waiting_per_point: timedelta) -> Rank:
    """Smaller runs earlier; the id makes the order total."""
    return (job.create_time - job.spec.priority * waiting_per_point, job.job_id)


def in_order(jobs: Iterable[Job], waiting_per_point: timedelta) -> list[Job]:
    """The jobs, next one first."""
    return sorted(jobs, key=lambda job: rank(job, waiting_per_point))


def position(job: Job, waiting: Iterable[Job], waiting_per_point: timedelta) -> int:
    """The job's place, from 1, among the waiting jobs that may run on a GPU type that it may run on."""
    own, gpu_types = rank(job, waiting_per_point), set(job.spec.gpu_types)
    ahead = (other for other in waiting if rank(other, waiting_per_point) < own)
    return 1 + sum(1 for other in ahead if not gpu_types.isdisjoint(other.spec.gpu_types))
