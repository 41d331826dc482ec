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
    """The job's place, from 1, among the waiting jobs that may run on a GPU type that it may run on."""
    own, gpu_types = rank(job), set(job.spec.gpu_types)
    return 1 + sum(1 for other in waiting if not gpu_types.isdisjoint(other.spec.gpu_types) and rank(other) < own)
