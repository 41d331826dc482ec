"""Ends reservations for queues that wait for their own quotas, with notice, where the queue's rule says so."""

from __future__ import annotations

from contextlib import suppress

from services.scheduler.jobs.errors import MachineUnreachableError, StaleJobError
from services.scheduler.queue.borrowing import Borrowing
from services.scheduler.queue.queue_book import QueueBook
from services.scheduler.queue.running import RunningJobs
from services.scheduler.reservations.attempt.session_attempt import session_of
from services.scheduler.runs.job_runner import JobRunner


class Recalls:
    """A loop; see `recallNotice` in docs/queues.md."""

    def __init__(self, borrowing: Borrowing, book: QueueBook, running: RunningJobs, runner: JobRunner) -> None:
        self._borrowing = borrowing
        self._book = book
        self._running = running
        self._runner = runner

    @property
    def name(self) -> str:
        """Name in logs and metrics."""
        return "recalls"

    async def run_once(self) -> None:
        """Gives notice, takes it back if the queue waits no more, and ends those whose notice is over."""
        if not self._borrowing.is_sure:
            return
        needed = self._borrowing.recalled()
        for job in list(self._running.jobs()):
            queue, said = needed.get(job.job_id, ""), job.reservation and job.reservation.recall
            if queue or said:
                notice = self._book.queues.recall_notice(self._book.queues.known(job.spec.queue))
                # What has no room only for a moment, or is asked for again, still waits.
                waits = bool(said and notice and self._borrowing.waits_for(said.queue, job))
                with suppress(StaleJobError, MachineUnreachableError):
                    await session_of(self._runner, job.job_id).recall(queue, notice, still=waits)
