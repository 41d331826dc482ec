"""Ends jobs on request, whatever their state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.scheduler.jobs.errors import StaleJobError
from services.scheduler.jobs.job import WAITING_STATES, Job, JobState
from services.scheduler.jobs.outcome import Ending
from services.scheduler.queue.uncut import uncut
from services.scheduler.wire import payloads
from vocabulary.verdicts import CANCELLED

if TYPE_CHECKING:
    from servicekit.clock import Clock
    from services.scheduler.queue.waiting import WaitingJobs
    from services.scheduler.runs.job_runner import JobRunner
    from services.scheduler.store.job_store import JobStore

MESSAGE = "Cancelled before it ran; nothing is charged."


class Canceller:
    """Carries out CancelJob."""

    def __init__(self, store: JobStore, waiting: WaitingJobs, runner: JobRunner, clock: Clock) -> None:
        self._store = store
        self._waiting = waiting
        self._runner = runner
        self._clock = clock

    async def cancel(self, job: Job) -> Job:
        """Cancels the job and gives it as it is now: settling, asked to end, or unchanged if it is over."""
        while True:
            try:
                return await uncut(self._cancel(job))
            except StaleJobError:
                job = await self._store.get(job.job_id) or job

    async def _cancel(self, job: Job) -> Job:
        now = self._clock.now()
        if job.state in WAITING_STATES:
            outcome = payloads.outcome(Ending(JobState.CANCELLED, CANCELLED, MESSAGE))
            job = await self._store.move(job, job.settle(outcome), [], now)
            self._waiting.remove(job.job_id)
            self._runner.run(job)
        elif job.state is JobState.RUNNING:
            job = await self._store.move(job, job.request_cancel(now), [], now)
            self._runner.cancel(job.job_id)
        return job
