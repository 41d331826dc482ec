"""One attempt at a job: follows its run on a leased machine until the run ends or the attempt is lost.

Several duties race, and the first to end decides. The follower ends with the run's last event; the others end only by
declaring the attempt lost. They begin when they are due, so that a short run has none of their tasks. Each batch of
events is a commit that first compares the row with what this attempt last wrote, so an attempt that another process has
taken over can write nothing more.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing, suppress
from contextvars import Context, copy_context
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from services.scheduler import metrics
from services.scheduler.jobs.job import Outcome
from services.scheduler.jobs.outcome import DEVICE_FAULT, MISSING_TORCH, ending_of
from services.scheduler.peers.executors import (
    ExecutorError,
    MachineUnfitError,
    RunInterruptedError,
    RunRefusedError,
    RunUnknownError,
)
from services.scheduler.peers.pool import LeaseGoneError, PoolError
from services.scheduler.queue.batching import batches
from services.scheduler.queue.uncut import uncut
from services.scheduler.wire import payloads
from services.scheduler.wire.messages import verdict_name
from vocabulary.backoff import Backoff, Retries

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from wavepool.executor.v1.run_event_pb2 import Finished, RunEvent
    from wavepool.submission.v1.submission_pb2 import Submission

    from servicekit.clock import Clock
    from services.scheduler.config import SchedulerSettings
    from services.scheduler.jobs.job import Job
    from services.scheduler.jobs.spec import Lease
    from services.scheduler.peers.executors import Executors
    from services.scheduler.peers.pool import Pool
    from services.scheduler.store.job_store import JobStore

CANCEL_PAUSE_SECONDS = 0.25
REATTACH_BACKOFF = Backoff(first=timedelta(seconds=0.05), longest=timedelta(seconds=1))


class AttemptLostError(Exception):
    """The attempt ended through no fault of the submission; an `excused` one does not count against the job either."""

    def __init__(
        self,
        reason: str,
        *,
        machine_suspect: bool = False,
        excused: bool = False,
        lacks_torch: bool = False,
        unfit_reason: str = "",
    ) -> None:
        super().__init__(reason)
        self.machine_suspect = machine_suspect
        self.excused = excused
        self.lacks_torch = lacks_torch
        """True if only a machine with torch can run the job."""
        self.unfit_reason = unfit_reason
        """Why the machine takes no runs, in its own words; empty if it takes runs."""


class Attempt:
    """Takes a RUNNING job to SETTLING, or raises AttemptLostError."""

    def __init__(
        self,
        job: Job,
        lease: Lease,
        store: JobStore,
        pool: Pool,
        executors: Executors,
        clock: Clock,
        settings: SchedulerSettings,
    ) -> None:
        self.job = job
        self.lease = lease
        self._store = store
        self._pool = pool
        self._executors = executors
        self._clock = clock
        self._settings = settings
        self._expire_time = lease.expire_time
        self._retries = Retries(REATTACH_BACKOFF, settings.reattach_window)
        self._is_cancelled = job.cancel_time is not None
        self._stopped: AttemptLostError | None = None
        self._end: asyncio.Future[Job] | None = None
        self._context = Context()
        self._duties: set[asyncio.Task[Job]] = set()

    def cancel(self) -> None:
        """Asks the attempt to end the job's run."""
        if not self._is_cancelled and self._end and not self._end.done():
            self._begin(self._pass_cancellation_on)
        self._is_cancelled = True

    def machine_gone(self, reason: str, *, stopped: bool) -> None:
        """Notes that vmpool has given the machine up, or, if `stopped`, ends it at once by request."""
        text = f"its machine is gone ({reason})" if reason else "its machine is gone"
        self._stop(AttemptLostError(text, excused=stopped))

    def give_way(self, reason: str) -> None:
        """Notes that another job gets the GPUs, or some of them."""
        self._stop(AttemptLostError(reason, excused=True))

    def _stop(self, lost: AttemptLostError) -> None:
        """Ends the run from outside."""
        if self._stopped is None:
            self._stopped = lost
            if self._end and not self._end.done():
                self._end.set_exception(lost)

    async def run(self, *, resumed: bool) -> Job:
        """Begins the run, or attaches to it if `resumed`; gives the job in SETTLING. Raises AttemptLostError."""
        if resumed:
            await self._renew()
        if self._stopped:
            raise self._stopped
        loop = asyncio.get_running_loop()
        self._context = copy_context()
        self._end = loop.create_future()
        timers = [
            loop.call_later(self._renewal_seconds, self._begin, self._keep_lease),
            loop.call_later(self._seconds_left(), self._begin, self._exceed_time),
        ]
        self._begin(self._follow)
        if self._is_cancelled:
            self._begin(self._pass_cancellation_on)
        try:
            return await self._end
        finally:
            for timer in timers:
                timer.cancel()
            for task in self._duties:
                task.cancel()
            await asyncio.gather(*self._duties, return_exceptions=True)

    def _begin(self, duty: Callable[[], Coroutine[Any, Any, Job]]) -> None:
        # Whoever asks for it, it belongs to the request of the job.
        task = asyncio.create_task(duty(), context=self._context)
        self._duties.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, duty: asyncio.Task[Job]) -> None:
        if duty.cancelled() or self._end is None or self._end.done():
            return
        if error := duty.exception():
            self._end.set_exception(error)
        else:
            self._end.set_result(duty.result())

    async def _follow(self) -> Job:
        submission = await self._store.submission_to_run(self.job)
        while True:
            try:
                return await self._stream(submission)
            except RunInterruptedError as error:
                pause = self._retries.pause(self._clock.now())
                if pause is None:
                    raise AttemptLostError(f"the machine cannot be reached ({error})", machine_suspect=True) from error
            except MachineUnfitError as error:
                raise AttemptLostError(f"the machine took no run: {error}", unfit_reason=str(error)) from error
            except RunRefusedError as error:
                raise AttemptLostError(f"the machine refused the run ({error})") from error
            await asyncio.sleep(pause.total_seconds())

    async def _stream(self, submission: Submission) -> Job:
        stream = self._executors.run(self.job, self.lease, submission, self._expire_time)
        async with aclosing(batches(stream)) as arriving:
            async for batch in arriving:
                events = [event for event in batch if event.seq > self.job.run_seq]
                _check_contiguous(self.job.run_seq, events)
                if events and events[-1].WhichOneof("event") == "finished":
                    return await self._finish(events[:-1], events[-1].finished)
                if events:
                    self._retries.reset()
                    self.job = await self._write(self._reported(events), events)
        raise RunInterruptedError("the stream ended before the run did")

    async def _finish(self, events: list[RunEvent], finished: Finished) -> Job:
        verdict = verdict_name(finished.verdict)
        ending = ending_of(verdict, cancel_requested=self._is_cancelled)
        if ending is None:
            if events:
                self.job = await self._write(self._reported(events), events)
            lacks_torch = finished.reason == MISSING_TORCH
            reason = finished.message or "the machine ended the run"
            is_suspect = finished.reason not in {MISSING_TORCH, DEVICE_FAULT}
            raise AttemptLostError(reason, machine_suspect=is_suspect, lacks_torch=lacks_torch)
        cost_micros = self.job.charge_for(finished.billable.ToTimedelta())
        outcome = Outcome(ending, verdict, finished.message, finished.SerializeToString(), cost_micros)
        return await self._write(self._reported(events).settle(outcome), events)

    def _reported(self, events: list[RunEvent]) -> Job:
        if not events:
            return self.job
        return self.job.progress(events[-1].seq, self.job.charge_for(self._run_time()))

    async def _write(self, after: Job, events: list[RunEvent]) -> Job:
        metrics.events_committed.observe(len(events))
        written = [payloads.run(event) for event in events]
        return await uncut(self._store.move(self.job, after, written, self._clock.now()))

    def _run_time(self) -> timedelta:
        now = self._clock.now()
        return now - (self.job.start_time or now)

    @property
    def _renewal_seconds(self) -> float:
        return self._settings.lease_duration.total_seconds() / 3

    async def _keep_lease(self) -> Job:
        while True:
            await self._renew()
            await asyncio.sleep(self._renewal_seconds)

    async def _renew(self) -> None:
        try:
            self._expire_time = await self._pool.renew(self.lease.lease_id, self._settings.lease_duration)
        except LeaseGoneError as error:
            raise AttemptLostError(f"its lease is gone ({error})") from error
        except PoolError as error:
            if self._clock.now() >= self._expire_time:
                raise AttemptLostError(f"its lease expired while vmpool could not be reached ({error})") from error
        # The follower handles a run that cannot be reached. A run that the executor does not know has not begun.
        with suppress(RunInterruptedError, RunUnknownError):
            try:
                await self._executors.renew(self.job, self.lease, self._expire_time)
                self._retries.reset()
            except RunRefusedError as error:
                raise AttemptLostError(f"the machine refused to go on ({error})") from error

    async def _pass_cancellation_on(self) -> Job:
        grace = self._settings.cancel_grace.total_seconds()
        with suppress(TimeoutError):
            async with asyncio.timeout(grace):
                while True:
                    # Repeat even after success: a run that begins a moment later must end too.
                    with suppress(ExecutorError):
                        await self._executors.cancel(self.job, self.lease)
                    await asyncio.sleep(CANCEL_PAUSE_SECONDS)
        raise AttemptLostError(f"the machine did not end the cancelled run within {grace:g} s", machine_suspect=True)

    @property
    def _longest(self) -> timedelta:
        return self.job.spec.longest_run(self._settings.longest_run)

    def _seconds_left(self) -> float:
        left = self._longest + self._settings.overrun_grace - self._run_time()
        return max(0.0, left.total_seconds())

    async def _exceed_time(self) -> Job:
        raise AttemptLostError(f"the machine did not end the run within {self._longest}", machine_suspect=True)


def _check_contiguous(seq: int, events: list[RunEvent]) -> None:
    for expected, event in enumerate(events, seq + 1):
        if event.seq != expected:
            raise AttemptLostError(f"the machine sent event {event.seq} where {expected} was due", machine_suspect=True)
