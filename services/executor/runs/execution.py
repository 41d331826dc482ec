"""Carries out one run with one judge, and ends it if it is cancelled, loses its lease, or takes too long."""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import replace
from datetime import datetime, timedelta

from wavepool.executor.v1.run_event_pb2 import (
    VERDICT_CANCELLED,
    VERDICT_INFRA_ERROR,
    VERDICT_TIME_LIMIT_EXCEEDED,
    Finished,
    RunEvent,
)

from servicekit import logging
from servicekit.clock import Clock
from servicekit.rpc.proto_time import duration_to_proto
from services.executor.core.model.job import CoreJob
from services.executor.judges.judge import Judge
from services.executor.judges.pool import JudgePool
from services.executor.runs.admission import EndReason, Place
from services.executor.runs.run import Run

log = logging.get_logger(__name__)

_TOO_LONG = (
    "The run as a whole took longer than its limit of {limit:g} s. If your queue allows more, `--time-limit SECONDS` "
    "(`time_limit_seconds` over HTTP) raises it; an operator raises the queue's."
)
_VERDICTS = {
    EndReason.CANCELLED: (VERDICT_CANCELLED, "The run was cancelled."),
    EndReason.LEASE_EXPIRED: (VERDICT_CANCELLED, "The run's lease of the machine expired."),
    EndReason.LEASE_PASSED_ON: (VERDICT_CANCELLED, "The run's lease of the machine has passed to another."),
    EndReason.EXECUTOR_STOPPED: (VERDICT_INFRA_ERROR, "The machine was stopped during the run. Run again elsewhere."),
    EndReason.RUN_LIMIT: (VERDICT_TIME_LIMIT_EXCEEDED, _TOO_LONG),
}


class Execution:
    """A run in progress at its place on the machine; `carry_out` is its whole life."""

    def __init__(self, run: Run, judges: JudgePool, clock: Clock, place: Place) -> None:
        self.run = run
        self.place = place
        self.lease = run.spec.lease
        self._judges = judges
        self._clock = clock
        self._deadline = clock.now() + run.spec.longest_run
        self.leaves_processes = False
        """True if the run left something that cannot be killed; known once it has been carried out."""
        self._end_reason: EndReason | None = None
        self._changed = asyncio.Event()
        self._start = time.perf_counter()

    @property
    def is_over(self) -> bool:
        """True once the run's last event is recorded."""
        return self.run.is_finished

    async def wait(self) -> None:
        """Wait for the run's last event."""
        await self.run.wait()

    def end(self, reason: EndReason) -> None:
        """Ask for the end of the run; the first reason counts."""
        self._end_reason = self._end_reason or reason
        self._changed.set()

    def renew(self, expire_time: datetime | None) -> None:
        """Move the end of the lease forward; an earlier time is ignored."""
        current = self.lease.expire_time
        if expire_time is not None and current is not None and expire_time > current:
            self.lease = replace(self.lease, expire_time=expire_time)
            self._changed.set()

    async def carry_out(self) -> None:
        """Carry out the run to its last event. Afterwards nothing of it is left, or `leaves_processes` is set."""
        self._start = time.perf_counter()
        try:
            judge = await self._judges.take()
            try:
                await self._judged(judge)
            finally:
                await self._end(judge)
        except Exception as error:
            log.exception("a run broke down", extra={"run_id": self.run.spec.run_id})
            self.run.record(infrastructure_fault(f"{type(error).__name__}: {error}"))

    async def _judged(self, judge: Judge) -> None:
        judging = asyncio.create_task(self._follow(judge))
        watching = asyncio.create_task(self._reason_to_end())
        try:
            await asyncio.wait({judging, watching}, return_when=asyncio.FIRST_COMPLETED)
            if judging.done():
                judging.result()
            else:
                judging.cancel()
                await asyncio.wait({judging})
                await self._end(judge)
                reason = watching.result()
                if reason is EndReason.RUN_LIMIT and judge.is_alive:
                    # The judge is our own process, so only a hanging machine keeps it alive this long.
                    self.run.record(infrastructure_fault("The judge hangs and cannot be killed."))
                self._finish_early(reason)
        finally:
            watching.cancel()

    async def _end(self, judge: Judge) -> None:
        await judge.end()
        self.leaves_processes |= judge.leaves_processes

    async def _follow(self, judge: Judge) -> None:
        async for event in judge.run(self._job()):
            if event.HasField("finished"):
                self.leaves_processes |= event.finished.unkillable
                self._finish(event.finished)
            else:
                self.run.record(event)

    def _job(self) -> CoreJob:
        left_seconds = (self._deadline - self._clock.now()).total_seconds()
        masked = self.place.part_of_device if self.run.spec.mask_compute_units else (0, 0)
        return replace(
            self.run.spec.job,
            devices=self.place.devices,
            has_part_of_gpu=self.place.is_part,
            masked_eighths=masked,
            longest_seconds=max(left_seconds, 1e-3),
        )

    async def _reason_to_end(self) -> EndReason:
        while True:
            self._changed.clear()
            if reason := self._reason_now():
                return reason
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._seconds_to_next_reason()):
                    await self._changed.wait()

    def _reason_now(self) -> EndReason | None:
        now = self._clock.now()
        if self._end_reason is None and self.lease.expire_time is not None and self.lease.expire_time <= now:
            return EndReason.LEASE_EXPIRED
        if self._end_reason is None and self._deadline <= now:
            return EndReason.RUN_LIMIT
        return self._end_reason

    def _seconds_to_next_reason(self) -> float:
        instants = [self._deadline, *([self.lease.expire_time] if self.lease.expire_time else [])]
        return (min(instants) - self._clock.now()).total_seconds()

    def _finish_early(self, reason: EndReason) -> None:
        verdict, message = _VERDICTS[reason]
        message = message.format(limit=self.run.spec.longest_run.total_seconds())
        self._finish(Finished(verdict=verdict, message=message, reason=reason))

    def _finish(self, finished: Finished) -> None:
        finished.billable.CopyFrom(duration_to_proto(self._billable(finished.verdict)))
        self.run.record(RunEvent(finished=finished))

    def _billable(self, verdict: int) -> timedelta:
        """Return the time to charge; nothing for our own faults, or if the run left processes that cannot be killed."""
        if verdict == VERDICT_INFRA_ERROR or self.leaves_processes:
            return timedelta(0)
        return timedelta(seconds=time.perf_counter() - self._start)


def infrastructure_fault(details: str) -> RunEvent:
    """Return the last event of a run that failed by our fault."""
    message = "The executor failed, which is our fault. Run again elsewhere."
    finished = Finished(verdict=VERDICT_INFRA_ERROR, message=message, details=details)
    return RunEvent(finished=finished)
