"""Finds jobs that nothing works on: at start all those of the last process, later any that were dropped."""

from __future__ import annotations

from datetime import timedelta

from servicekit.clock import Clock
from servicekit.logging import get_logger
from services.scheduler.jobs.errors import BillingUnreachableError, CreditRefusedError, InvalidFieldError, StaleJobError
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.states import IN_FLIGHT_STATES, STARTED_STATES, UNSEEN_STATES, WAITING_STATES, JobState
from services.scheduler.peers.billing import Billing
from services.scheduler.queue.dated_book import DatedBook
from services.scheduler.queue.waiting import WaitingJobs
from services.scheduler.runs.job_runner import JobRunner
from services.scheduler.store.job_store import JobStore

log = get_logger(__name__)

UNFINISHED_STATES = IN_FLIGHT_STATES | UNSEEN_STATES


class Rescuer:
    """The loop that rescues jobs; its first pass is how a scheduler starts."""

    name = "rescuer"

    def __init__(
        self,
        store: JobStore,
        billing: Billing,
        runner: JobRunner,
        waiting: WaitingJobs,
        dated: DatedBook,
        clock: Clock,
        submission_timeout: timedelta,
    ) -> None:
        self._store = store
        self._billing = billing
        self._runner = runner
        self._waiting = waiting
        self._dated = dated
        self._clock = clock
        self._submission_timeout = submission_timeout

    async def run_once(self) -> None:
        """Takes on every job that has no task and is not in the queue."""
        known = {job.job_id for job in self._dated.pending()}
        states = await self._store.ids_in_states(UNFINISHED_STATES)
        async for job in self._store.by_ids([job_id for job_id in states if not self._in_hand(job_id)]):
            if self._in_hand(job.job_id):
                continue
            await self._take_on(job)
        # Without a row, nothing is kept for it.
        for job_id in known.difference(states):
            self._dated.remove(job_id)
        if not self._dated.is_loaded:
            self._dated.is_loaded = True
            self._waiting.changed.set()

    async def _take_on(self, job: Job) -> None:
        if job.state in STARTED_STATES:
            self._runner.run(job, resumed=True)
        elif job.is_pending:
            self._dated.put(job)
        elif job.state in WAITING_STATES:
            self._waiting.put(job)
        elif job.state in UNSEEN_STATES:
            if job.is_dated and job.state is JobState.RESERVING:
                # The caller's next try goes on with it, and finds its GPUs kept.
                self._dated.put(job)
            await self._give_back(job)

    def _in_hand(self, job_id: str) -> bool:
        pending = self._dated.get(job_id)
        return job_id in self._waiting or self._runner.has(job_id) or (pending is not None and pending.is_pending)

    async def _give_back(self, job: Job) -> None:
        if self._clock.now() - job.create_time < self._submission_timeout:
            return
        try:
            if job.state is JobState.RESERVING:
                job = await self._store.move(job, job.abandon(), [], self._clock.now())
            await self._release_hold(job)
        except StaleJobError:
            return  # the submission went on after all
        except BillingUnreachableError:
            log.warning("a dead submission's hold waits for billing", extra={"job_id": job.job_id})
        else:
            await self._store.delete(job)

    async def _release_hold(self, job: Job) -> None:
        # Billing gives a repeated key its first answer, which finds the hold if there is one.
        try:
            hold = await self._billing.reserve(job)
        except (CreditRefusedError, InvalidFieldError):
            return
        await self._billing.settle(job, hold.hold_id)
