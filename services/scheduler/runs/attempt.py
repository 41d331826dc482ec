"""One attempt at a submission: its run on a leased machine."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import aclosing, suppress
from datetime import timedelta

from wavepool.executor.v1.run_event_pb2 import Finished, RunEvent
from wavepool.submission.v1.submission_pb2 import Submission

from servicekit.cancellation import uncut
from servicekit.clock import Clock
from services.scheduler import metrics
from services.scheduler.config import SchedulerSettings
from services.scheduler.jobs.job import Job, Outcome
from services.scheduler.jobs.outcome import DEVICE_FAULT, MISSING_TORCH, ending_of
from services.scheduler.jobs.spec import Lease
from services.scheduler.peers.executors import (
    ExecutorError,
    MachineUnfitError,
    RunInterruptedError,
    RunRefusedError,
    RunUnknownError,
)
from services.scheduler.peers.peers import Peers
from services.scheduler.peers.pool import LeaseGoneError, PoolError
from services.scheduler.queue.batching import batches
from services.scheduler.runs.leased_attempt import AttemptLostError, Duty, Held, LeasedAttempt, check_contiguous
from services.scheduler.store.job_store import JobStore
from services.scheduler.wire import payloads
from services.scheduler.wire.messages import verdict_name
from vocabulary.backoff import Backoff, Retries

CANCEL_PAUSE_SECONDS = 0.25
REATTACH_BACKOFF = Backoff(first=timedelta(seconds=0.05), longest=timedelta(seconds=1))


class Attempt(LeasedAttempt):
    """An attempt at a submission's run.

    Each batch of events is a commit that first compares the row with what this attempt last wrote, so an attempt that
    another process has taken over can write nothing more.
    """

    def __init__(
        self,
        job: Job,
        lease: Lease,
        store: JobStore,
        peers: Peers,
        clock: Clock,
        settings: SchedulerSettings,
    ) -> None:
        super().__init__(Held(job, lease))
        self._store = store
        self._pool = peers.pool
        self._executors = peers.executors
        self._clock = clock
        self._settings = settings
        self._expire_time = lease.expire_time
        self._retries = Retries(REATTACH_BACKOFF, settings.reattach_window)

    async def end_run(self) -> None:
        """Ends the run; raises ExecutorError."""
        await self._executors.cancel(self.held.job, self.held.lease)

    def _later_duties(self) -> Iterable[tuple[float, Duty]]:
        return [(self._renewal_seconds, self._keep_lease), (self._seconds_left(), self._exceed_time)]

    async def _follow(self) -> Job:
        submission = await self._store.submission_to_run(self.held.job)
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
        stream = self._executors.run(self.held.job, self.held.lease, submission, self._expire_time)
        async with aclosing(batches(stream)) as arriving:
            async for batch in arriving:
                events = [event for event in batch if event.seq > self.held.job.run_seq]
                check_contiguous(self.held.job.run_seq, events)
                if events and events[-1].WhichOneof("event") == "finished":
                    return await self._finish(events[:-1], events[-1].finished)
                if events:
                    self._retries.reset()
                    self.held.job = await self._write(self._reported(events), events)
        raise RunInterruptedError("the stream ended before the run did")

    async def _finish(self, events: list[RunEvent], finished: Finished) -> Job:
        verdict = verdict_name(finished.verdict)
        ending = ending_of(verdict, cancel_requested=self.held.is_cancelled)
        if ending is None:
            if events:
                self.held.job = await self._write(self._reported(events), events)
            lacks_torch = finished.reason == MISSING_TORCH
            reason = finished.message or "the machine ended the run"
            is_suspect = finished.reason not in {MISSING_TORCH, DEVICE_FAULT}
            raise AttemptLostError(reason, machine_suspect=is_suspect, lacks_torch=lacks_torch)
        cost_micros = self.held.job.charge_for(finished.billable.ToTimedelta())
        outcome = Outcome(ending, verdict, finished.message, finished.SerializeToString(), cost_micros)
        return await self._write(self._reported(events).settle(outcome), events)

    def _reported(self, events: list[RunEvent]) -> Job:
        if not events:
            return self.held.job
        return self.held.job.progress(events[-1].seq, self.held.job.charge_for(self._run_time()))

    async def _write(self, after: Job, events: list[RunEvent]) -> Job:
        metrics.events_committed.observe(len(events))
        before, now = self.held.job, self._clock.now()
        written = await uncut(self._store.move(before, after, [payloads.run(event) for event in events], now))
        if events and before.attempt == 1 and not before.run_seq:
            metrics.first_stage_seconds.observe((now - before.create_time).total_seconds())
        return written

    def _run_time(self) -> timedelta:
        now = self._clock.now()
        return now - (self.held.job.start_time or now)

    @property
    def _renewal_seconds(self) -> float:
        return self._settings.lease_duration.total_seconds() / 3

    async def _keep_lease(self) -> Job:
        while True:
            await self._renew()
            await asyncio.sleep(self._renewal_seconds)

    async def _renew(self) -> None:
        try:
            self._expire_time = await self._pool.renew(self.held.lease.lease_id, self._settings.lease_duration)
        except LeaseGoneError as error:
            raise AttemptLostError(f"its lease is gone ({error})") from error
        except PoolError as error:
            if self._clock.now() >= self._expire_time:
                raise AttemptLostError(f"its lease expired while vmpool could not be reached ({error})") from error
        # The follower handles a run that cannot be reached. A run that the executor does not know has not begun.
        with suppress(RunInterruptedError, RunUnknownError):
            try:
                await self._executors.renew(self.held.job, self.held.lease, self._expire_time)
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
                        await self._executors.cancel(self.held.job, self.held.lease)
                    await asyncio.sleep(CANCEL_PAUSE_SECONDS)
        raise AttemptLostError(f"the machine did not end the cancelled run within {grace:g} s", machine_suspect=True)

    @property
    def _longest(self) -> timedelta:
        return self.held.job.spec.longest_run(self._settings.longest_run)

    def _seconds_left(self) -> float:
        left = self._longest + self._settings.overrun_grace - self._run_time()
        return max(0.0, left.total_seconds())

    async def _exceed_time(self) -> Job:
        raise AttemptLostError(f"the machine did not end the run within {self._longest}", machine_suspect=True)
