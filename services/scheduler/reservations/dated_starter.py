"""Puts reservations that start later in the queue when their start is near, and says so if there are no GPUs then."""

from __future__ import annotations

from datetime import timedelta

from servicekit.clock import Clock
from servicekit.logging import get_logger
from services.scheduler.jobs.job import Job
from services.scheduler.queue.dated_book import DatedBook
from services.scheduler.queue.waiting import WaitingJobs
from services.scheduler.reservations.changes import ReservationChanges
from services.scheduler.wire import payloads

log = get_logger(__name__)

_FIRST = 1


class DatedStarter:
    """The loop; `lead` is the time before a start at which a machine is asked for, and the session prepared."""

    name = "dated starter"

    def __init__(
        self,
        dated: DatedBook,
        waiting: WaitingJobs,
        changes: ReservationChanges,
        clock: Clock,
        lead: timedelta,
        longest_run: timedelta,
    ) -> None:
        self._dated = dated
        self._waiting = waiting
        self._changes = changes
        self._clock = clock
        self._lead = lead
        self._longest_run = longest_run

    async def run_once(self) -> None:
        """Looks at all that start later."""
        now = self._clock.now()
        for job in [job for job in self._dated.pending() if job.is_pending and job.hold_id]:
            start = job.reserved.start_time
            if start and start - self._lead <= now:
                message = f"It starts at {start:%Y-%m-%d %H:%M:%S} UTC, and is the first in line for its GPUs."
                await self._changes.come_due(job, payloads.queued(_FIRST, None, message))
                log.info("a dated reservation comes due", extra={"job_id": job.job_id})
        for job in list(self._waiting.dated.values()):
            start = job.reserved.start_time
            if start and start <= now and not job.reserved.is_late:
                await self._changes.tell_late(job, payloads.queued(_FIRST, None, self._late(job)))
                log.warning("a dated reservation has no GPUs at its start", extra={"job_id": job.job_id})

    def _late(self, job: Job) -> str:
        latest = job.spec.latest_start(self._longest_run)
        by = f" If there are none by {latest:%Y-%m-%d %H:%M:%S} UTC, it fails." if latest else ""
        return (
            "Its GPUs are not there yet, as a machine was lost, or what ran there has not ended. It is the first in "
            f"line for them, and nothing is charged until it has them.{by}"
        )
