"""Runs and settles started jobs: one task for each, until the job is over or waits again."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress

from servicekit.clock import Clock, short_id
from servicekit.logging import get_logger
from servicekit.request_id import set_request_id
from services.scheduler import metrics
from services.scheduler.config import SchedulerSettings
from services.scheduler.fairness.situation import Stop, StopKind
from services.scheduler.jobs.errors import StaleJobError
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.outcome import Ending, never_possible, too_late
from services.scheduler.jobs.retries import NO_TORCH, ending_after_loss
from services.scheduler.jobs.spec import Lease
from services.scheduler.jobs.states import STARTED_STATES, WAITING_STATES, JobState
from services.scheduler.peers.executors import ExecutorError
from services.scheduler.peers.peers import Peers
from services.scheduler.queue.forecast import Forecast
from services.scheduler.queue.inventory import Inventory
from services.scheduler.queue.placement import machine_with_torch
from services.scheduler.queue.running import RunningJobs
from services.scheduler.queue.waiting import WaitingJobs
from services.scheduler.runs.attempt import Attempt
from services.scheduler.runs.leased_attempt import AttemptLostError, LeasedAttempt, LeasedSession
from services.scheduler.runs.settler import Settler
from services.scheduler.store.job_store import JobStore
from services.scheduler.wire import payloads
from vocabulary.slots import gpus_for

log = get_logger(__name__)

# A machine that is given up is asked to stop its run, but we do not wait longer than this.
FAREWELL_SECONDS = 2.0


class JobRunner:
    """Runs at most one task for each job; `run` is safe to call again at any time."""

    def __init__(
        self,
        *,
        store: JobStore,
        peers: Peers,
        settler: Settler,
        waiting: WaitingJobs,
        running: RunningJobs,
        inventory: Inventory,
        forecast: Forecast,
        clock: Clock,
        settings: SchedulerSettings,
        session_of: Callable[[Job, Lease, Callable[[Job], None]], LeasedSession],
    ) -> None:
        self._store = store
        self._session_of = session_of
        self._peers = peers
        self._clock = clock
        self._settings = settings
        self._inventory = inventory
        self._settler = settler
        self._waiting = waiting
        self._forecast = forecast
        self._running = running
        self._tasks: dict[str, asyncio.Task[Job | None]] = {}
        self._attempts: dict[str, LeasedAttempt] = {}

    def run(self, job: Job, *, resumed: bool = False) -> None:
        """Takes on a RUNNING or SETTLING job; `resumed` if another process may have begun its run."""
        if job.job_id in self._tasks:
            return
        task = asyncio.create_task(self._run(job, resumed=resumed), name=f"run {job.job_id}")
        self._tasks[job.job_id] = task
        if job.lease:
            self._running.put(job)
            self._forecast.starts(job)
        metrics.jobs_carried.set(len(self._tasks))
        task.add_done_callback(lambda done: self._put_down(job.job_id, done))

    def has(self, job_id: str) -> bool:
        """True if the job has a task."""
        return job_id in self._tasks

    def session(self, job_id: str) -> LeasedSession | None:
        """The attempt at a reservation, which alone may change it; None if it holds no machine now."""
        attempt = self._attempts.get(job_id)
        return attempt if isinstance(attempt, LeasedSession) else None

    def note(self, job: Job) -> None:
        """Notes, for what is forecast, that a job that runs has its machine for another time than before."""
        if job.job_id in self._attempts and job.state is JobState.RUNNING:
            self._running.put(job)

    def cancel(self, job_id: str) -> None:
        """Passes on that the job's row asks for its end."""
        if attempt := self._attempts.get(job_id):
            attempt.cancel()

    async def give_back(self, lease: Lease, reason: str) -> None:
        """Gives a lease back that no job has; goes on trying until vmpool answers, as one may last for days."""
        await self._settler.release(lease, reason=reason)

    def machine_gone(self, machine_id: str, reason: str, *, stopped: bool) -> None:
        """Ends every run on a machine that vmpool has given up or `stopped`."""
        for attempt in self._attempts.values():
            if any(lease.machine_id == machine_id for lease in attempt.held.leases):
                attempt.machine_gone(machine_id, reason, stopped=stopped)

    def give_way(self, stop: Stop, queue: str) -> bool:
        """Ends the run of a job whose GPUs one of that queue gets; the job waits again, at its old place in its own.

        False if there is no run to end any more.
        """
        attempt = self._attempts.get(stop.job_id)
        if attempt is None:
            return False
        said = {"job_id": stop.job_id, "winner": stop.winner, "reason": stop.reason}
        log.info("a job %s", stop.kind, extra=said)
        # Its user does not hear of other accounts' jobs.
        if stop.kind is StopKind.MOVES:
            metrics.jobs_restarted.labels("moved").inc()
            attempt.give_way(f"it starts again on {short_id(stop.machine_id)}, so that a larger job can start")
        elif stop.kind is StopKind.SHRINKS:
            metrics.jobs_restarted.labels("shrunk").inc()
            fewer = f"{gpus_for(stop.eighths)} in place of {gpus_for(attempt.held.lease.eighths)}"
            attempt.give_way(
                f"it starts again with fewer GPUs ({fewer}): queue {queue} takes back its share of the GPUs"
            )
        else:
            metrics.jobs_preempted.inc()
            attempt.give_way(f"its GPU goes to another job: queue {queue} takes back its share of the GPUs")
        return True

    async def stop(self) -> None:
        """Drops all jobs as they are; the runs go on, and the next process attaches to them."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._settler.stop()

    def _put_down(self, job_id: str, done: asyncio.Task[Job | None]) -> None:
        del self._tasks[job_id]
        metrics.jobs_carried.set(len(self._tasks))
        job = None if done.cancelled() else done.result()
        if job and job.state in WAITING_STATES:
            self._waiting.put(job)
        # A machine may have become free.
        self._waiting.changed.set()

    async def _run(self, job: Job, *, resumed: bool) -> Job | None:
        set_request_id(job.request_id)
        try:
            while job.state in STARTED_STATES:
                job = await self._next(job, resumed=resumed)
                resumed = True
        except Exception:
            # The rescuer takes it on again.
            log.exception("a job was dropped", extra={"job_id": job.job_id})
            return None
        return job

    async def _next(self, job: Job, *, resumed: bool) -> Job:
        try:
            return await self._step(job, resumed=resumed)
        except StaleJobError:
            return await self._store.get(job.job_id) or job

    async def _step(self, job: Job, *, resumed: bool) -> Job:
        if job.state is JobState.SETTLING or job.lease is None:
            return await self._settler.settle(job)
        attempt = self._attempt(job, job.lease)
        self._attempts[job.job_id] = attempt
        try:
            return await attempt.run(resumed=resumed)
        except AttemptLostError as lost:
            return await self._lose(attempt, lost)
        finally:
            del self._attempts[job.job_id]

    def _attempt(self, job: Job, lease: Lease) -> LeasedAttempt:
        if job.reservation:
            return self._session_of(job, lease, self.note)
        return Attempt(job, lease, self._store, self._peers, self._clock, self._settings)

    async def _lose(self, attempt: LeasedAttempt, lost: AttemptLostError) -> Job:
        is_users_fault = lost.final is not None and lost.final.state is JobState.CANCELLED
        if not is_users_fault:
            metrics.attempts_lost.inc()
        log.log(
            logging.INFO if is_users_fault else logging.WARNING,
            "attempt lost",
            extra={"job_id": attempt.held.job.job_id, "reason": str(lost)},
        )
        # A process that was stopped finds its streams broken. It must not end a run that its successor attached to.
        await self._store.check_leads()
        with suppress(ExecutorError, TimeoutError):
            async with asyncio.timeout(FAREWELL_SECONDS):
                await attempt.end_run()
        at_fault = lost.lease or attempt.held.lease
        # The first one last: with it, the job is forgotten.
        for lease in reversed(attempt.held.leases):
            await self._settler.release(
                lease,
                machine_suspect=lost.machine_suspect and lease == at_fault,
                reason=str(lost),
                unfit_reason=lost.unfit_reason if lease == at_fault else "",
                until_free=attempt.held.job.longest_lease is not None,
            )
        job = await self._store.get(attempt.held.job.job_id) or attempt.held.job
        if job.state is not JobState.RUNNING or job.attempt != attempt.held.job.attempt:
            return job
        return await self._after_loss(attempt, job, lost)

    def _without_torch(self, job: Job, lost: AttemptLostError) -> Ending | None:
        """The end of a job whose definition nothing here can evaluate; None if another machine may.

        It is no failure of ours, or anybody could set off the alerts about those.
        """
        offers = self._inventory.offers()
        if not lost.lacks_torch:
            return None
        if machine_with_torch(job, offers) is None:
            return never_possible(NO_TORCH)
        # Machines that have torch are set up alike, so they all lack the other package.
        has_torch = any(one.has_torch for one in offers if one.machine_id == job.machine_id)
        return never_possible(f"{str(lost).rstrip('.')}.") if has_torch else None

    async def _after_loss(self, attempt: LeasedAttempt, job: Job, lost: AttemptLostError) -> Job:
        reason, now = str(lost), self._clock.now()
        longest = self._settings.longest_run
        why = f" Its run was lost: {reason.rstrip('.')}."
        ending = ending_after_loss(
            job,
            reason,
            self._settings.max_attempts,
            now,
            excused=lost.excused,
            deadline_missed=too_late(job, longest, why) if job.spec.is_too_late(now, longest) else None,
            final=lost.final or self._without_torch(job, lost),
        )
        if ending is None:
            return await self._store.move(job, job.retry(excused=lost.excused), [payloads.retrying(reason)], now)
        return await self._store.move(job, attempt.settled_by_loss(job, ending, reason, now), [], now)
