"""The waiting jobs in memory: read from the rows at start, and updated with every move."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING

from services.scheduler import metrics
from services.scheduler.queue import ordering

if TYPE_CHECKING:
    from datetime import timedelta

    from services.scheduler.jobs.job import Job


class WaitingJobs:
    """QUEUED and PROVISIONING jobs by id. `changed` is set whenever there may be something to dispatch.

    `waiting_per_point` is how much waiting a point of priority is worth.
    """

    def __init__(self, waiting_per_point: timedelta) -> None:
        self._waiting_per_point = waiting_per_point
        self._jobs: dict[str, Job] = {}
        self.changed = asyncio.Event()

    def put(self, job: Job) -> None:
        """Adds a waiting job, or updates it after its row has changed."""
        if self._jobs.get(job.job_id) != job:
            self._jobs[job.job_id] = job
            self.changed.set()
        metrics.jobs_waiting.set(len(self._jobs))

    def remove(self, job_id: str) -> None:
        """Removes a job that waits no longer."""
        self._jobs.pop(job_id, None)
        self.changed.set()
        metrics.jobs_waiting.set(len(self._jobs))

    def in_order(self) -> list[Job]:
        """All waiting jobs, the next one first."""
        return ordering.in_order(self._jobs.values(), self._waiting_per_point)

    def ahead(self, job: Job) -> list[Job]:
        """The jobs that may take the job's machine before it, the next one first."""
        return ordering.ahead(job, self._jobs.values(), self._waiting_per_point)

    def jobs_by_gpu_types(self) -> dict[tuple[str, ...], int]:
        """Number of waiting jobs by the GPU types that they may run on, the wanted one first."""
        return dict(Counter(job.spec.gpu_types for job in self._jobs.values()))

    def __contains__(self, job_id: str) -> bool:
        return job_id in self._jobs
