"""Which waiting job comes first: higher priority, then older, then by id so that the order is total."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from services.scheduler.job import Job

Rank = tuple[int, "datetime", str]


def rank(job: Job) -> Rank:
    """Smaller runs earlier."""
    return (-job.spec.priority, job.create_time, job.job_id)


def in_order(jobs: Iterable[Job]) -> list[Job]:
    """The jobs, next one first."""
    return sorted(jobs, key=rank)


def position(job: Job, waiting: Iterable[Job]) -> int:
    """The job's place, from 1, among the waiting jobs that want the same GPU type."""
    own = rank(job)
    return 1 + sum(1 for other in waiting if other.spec.gpu_type == job.spec.gpu_type and rank(other) < own)
