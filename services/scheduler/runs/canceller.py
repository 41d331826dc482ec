"""Ends jobs on request, whatever their state, and waiting ones that are too late or that no machine can take."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta

from servicekit.cancellation import uncut
from servicekit.clock import Clock
from servicekit.logging import get_logger
from services.scheduler.jobs.errors import StaleJobError
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.outcome import Ending, never_possible, too_late
from services.scheduler.jobs.states import WAITING_STATES, JobState
from services.scheduler.queue.dated_book import DatedBook
from services.scheduler.queue.explanation import Explainer
from services.scheduler.queue.waiting import Lane, WaitingJobs
from services.scheduler.runs.job_runner import JobRunner
from services.scheduler.store.job_store import JobStore
from services.scheduler.wire import payloads
from vocabulary.verdicts import CANCELLED

log = get_logger(__name__)

MESSAGE = "Cancelled before it ran; nothing is charged."
ENDED_BY_ANOTHER = "Another user ended it."
"""The reason that the owner of a reservation reads if an operator, or a member of a team, gives none."""


class Canceller:
    """Carries out CancelJob, and is the loop that cancels waiting jobs whose deadlines have become too near."""

    name = "canceller"

    def __init__(
        self,
        *,
        store: JobStore,
        waiting: WaitingJobs,
        dated: DatedBook,
        runner: JobRunner,
        clock: Clock,
        longest_run: timedelta,
        explainer: Explainer,
        impossible_after: timedelta,
    ) -> None:
        self._store = store
        self._waiting = waiting
        self._dated = dated
        self._runner = runner
        self._clock = clock
        self._longest_run = longest_run
        self._explainer = explainer
        self._impossible_after = impossible_after
        self._impossible_since: dict[Lane, datetime] = {}

    async def run_once(self) -> None:
        """Cancels the waiting jobs that can no longer end before their deadlines, or that no machine can take."""
        now, longest = self._clock.now(), self._longest_run
        for job in [job for job in self._waiting.jobs() if job.spec.is_too_late(now, longest)]:
            # One that has moved on meanwhile is looked at again in the next pass, if it still waits.
            with suppress(StaleJobError):
                await uncut(self._end(job, too_late(job, longest), [], now))
                log.info("a job cannot end before its deadline", extra={"job_id": job.job_id})
        for job, why in await self._impossible(now):
            with suppress(StaleJobError):
                await uncut(self._end(job, never_possible(why), [], now))
                log.info("no machine can take a job", extra={"job_id": job.job_id, "reason": why})

    async def _impossible(self, now: datetime) -> list[tuple[Job, str]]:
        """The jobs that no machine has been able to take for long enough, and why not.

        One that was taken in doubt ends as soon as there is none.
        """
        if not self._explainer.knows_machines:
            # What was impossible before is so still, as far as anybody knows.
            return []
        waiting = {lane: self._waiting.first(lane, number) for lane, number in self._waiting.lanes().items()}
        await self._explainer.ask_pool(jobs[0] for jobs in waiting.values())
        found = [(lane, jobs, why) for lane, jobs in waiting.items() if (why := self._explainer.hopeless(jobs[0]))]
        self._waiting.hopeless = {lane: why for lane, _, why in found}
        self._impossible_since = {lane: self._impossible_since.get(lane, now) for lane, _, _ in found}
        seconds = self._impossible_after.total_seconds()
        ended: list[tuple[Job, str]] = []
        for lane, jobs, why in found:
            if lane.waits_for_operator:
                continue
            if now - self._impossible_since[lane] >= self._impossible_after:
                ended += [(job, f"as this has lasted for {seconds:g} s: {why}") for job in jobs]
            else:
                ended += [(job, why) for job in jobs if job.job_id in self._waiting.doubtful]
        return ended

    async def cancel(self, job: Job, reason: str = "", user_id: str = "") -> Job:
        """Cancels the job and gives it as it is now: settling, asked to end, or unchanged if it is over.

        The owner of a reservation reads the reason, and which user did it.
        """
        while True:
            try:
                return await uncut(self._cancel(job, reason, user_id))
            except StaleJobError:
                job = await self._store.get(job.job_id) or job

    async def _cancel(self, job: Job, reason: str, user_id: str) -> Job:
        now = self._clock.now()
        events: list[bytes] = []
        if job.reservation:
            own = {"", job.user_id, *(one.user_id for one in job.reservation.editors)}
            if job.state is JobState.RUNNING and user_id not in own:
                reason = reason or ENDED_BY_ANOTHER
            events = [] if job.cancel_time else [payloads.ending(user_id, reason)]
        if job.state in WAITING_STATES:
            job = await self._end(job, Ending(JobState.CANCELLED, CANCELLED, reason or MESSAGE), events, now)
        elif reason and job.state is JobState.RUNNING and (session := self._runner.session(job.job_id)):
            job = await session.end_early(reason, user_id)
        elif job.state is JobState.RUNNING:
            job = await self._store.move(job, job.request_cancel(now), events, now)
            self._runner.cancel(job.job_id)
            if job.reservation:
                # Others count on its GPUs.
                self._runner.note(job)
        return job

    async def _end(self, job: Job, ending: Ending, events: Sequence[bytes], now: datetime) -> Job:
        """Ends a waiting job; raises StaleJobError if it waits no longer, or not as it did."""
        settling = await self._store.move(job, job.settle(payloads.outcome(ending)), events, now)
        self._waiting.remove(job.job_id)
        self._dated.remove(job.job_id)
        self._runner.run(settling)
        return settling
