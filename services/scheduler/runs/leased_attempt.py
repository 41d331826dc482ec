"""One attempt at a job that holds a lease: follows what runs on the machine until it ends or the attempt is lost.

Several duties race, and the first to end decides. The follower ends with the last event from the machine; the others
end only by declaring the attempt lost. They begin when they are due, so that a short run has none of their tasks.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Iterable, Sequence
from contextvars import Context, copy_context
from datetime import datetime
from typing import Any

from wavepool.executor.v1.run_event_pb2 import RunEvent
from wavepool.executor.v1.session_pb2 import SessionEvent

from services.scheduler.jobs.job import Job
from services.scheduler.jobs.outcome import Ending
from services.scheduler.jobs.spec import Lease
from services.scheduler.jobs.states import JobState
from services.scheduler.wire import payloads

Duty = Callable[[], Coroutine[Any, Any, Job]]


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
        lease: Lease | None = None,
        final: Ending | None = None,
    ) -> None:
        super().__init__(reason)
        self.lease = lease
        """That of the machine which it is about; None for the attempt's first one."""
        self.machine_suspect = machine_suspect
        self.excused = excused
        self.lacks_torch = lacks_torch
        """True if only a machine with torch can run the job."""
        self.unfit_reason = unfit_reason
        """Why the machine takes no runs, in its own words; empty if it takes runs."""
        self.final = final
        """The job's end if another attempt is pointless; None if it is not."""


class Held:
    """A job that holds machines, as its attempt last wrote it."""

    def __init__(self, job: Job, lease: Lease) -> None:
        self.job = job
        self.lease = lease
        self.is_cancelled = job.cancel_time is not None
        """True once the attempt knows that it is to end."""

    @property
    def leases(self) -> tuple[Lease, ...]:
        """All leases of the attempt, the first one first."""
        return (self.lease, *self.job.more_leases)


class LeasedAttempt(ABC):
    """Takes a RUNNING job to SETTLING, or raises AttemptLostError."""

    def __init__(self, held: Held) -> None:
        self.held = held
        self._stopped: AttemptLostError | None = None
        self._end: asyncio.Future[Job] | None = None
        self._context = Context()
        self._duties: set[asyncio.Task[Job]] = set()
        self._timers: list[asyncio.TimerHandle] = []

    def cancel(self) -> None:
        """Asks the attempt to end what runs."""
        if not self.held.is_cancelled and self._end and not self._end.done():
            self._begin(self._pass_cancellation_on)
        self.held.is_cancelled = True

    def machine_gone(self, machine_id: str, reason: str, *, stopped: bool) -> None:
        """Notes that vmpool has given one of its machines up, or, if `stopped`, ends it at once by request."""
        name = f"its machine {machine_id}" if self.held.job.more_leases else "its machine"
        text = f"{name} is gone ({reason})" if reason else f"{name} is gone"
        self._stop(AttemptLostError(text, excused=stopped))

    def give_way(self, reason: str) -> None:
        """Notes that another job gets the GPUs, or some of them."""
        self._stop(AttemptLostError(reason, excused=True))

    async def run(self, *, resumed: bool) -> Job:
        """Begins, or attaches to what runs if `resumed`; gives the job in SETTLING. Raises AttemptLostError."""
        if resumed:
            await self._renew()
        if self._stopped:
            raise self._stopped
        self._context = copy_context()
        self._end = asyncio.get_running_loop().create_future()
        for seconds, duty in self._later_duties():
            self._begin_after(seconds, duty)
        self._begin(self._follow)
        if self.held.is_cancelled:
            self._begin(self._pass_cancellation_on)
        try:
            return await self._end
        finally:
            for timer in self._timers:
                timer.cancel()
            for task in self._duties:
                task.cancel()
            await asyncio.gather(*self._duties, return_exceptions=True)

    @abstractmethod
    async def end_run(self) -> None:
        """Ends what runs on the machine, of an attempt that is lost; raises ExecutorError."""

    def settled_by_loss(self, job: Job, ending: Ending, reason: str, now: datetime) -> Job:
        """The job as it ends after the attempt was lost at `now` for `reason`, and another one is not made."""
        del now
        return job.settle(payloads.outcome(ending, details="" if ending.state is JobState.CANCELLED else reason))

    @abstractmethod
    def _later_duties(self) -> Iterable[tuple[float, Duty]]:
        """What begins after so many seconds."""

    @abstractmethod
    async def _follow(self) -> Job:
        """Follows what runs until it ends."""

    @abstractmethod
    async def _pass_cancellation_on(self) -> Job:
        """Ends what runs, because somebody asked for it."""

    @abstractmethod
    async def _renew(self) -> None:
        """Renews the lease; raises AttemptLostError if it is gone."""

    def _stop(self, lost: AttemptLostError) -> None:
        """Ends the attempt from outside."""
        if self._stopped is None:
            self._stopped = lost
            if self._end and not self._end.done():
                self._end.set_exception(lost)

    def _begin_after(self, seconds: float, duty: Duty) -> None:
        self._timers.append(asyncio.get_running_loop().call_later(seconds, self._begin, duty))

    def _begin(self, duty: Duty) -> None:
        # It belongs to the request of the job, whatever asks for it.
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


class LeasedSession(LeasedAttempt):
    """An attempt at a reservation, whose end people are told the reason of."""

    @abstractmethod
    async def end_early(self, reason: str, user_id: str = "") -> Job:
        """Ends the session before its time, for a reason that its owner reads; changes nothing if it is ending.

        `user_id` is who does it; empty for the platform.
        """


def check_contiguous(seq: int, events: Sequence[RunEvent] | Sequence[SessionEvent]) -> None:
    """Raises AttemptLostError if one of the events after `seq` is missing."""
    for expected, event in enumerate(events, seq + 1):
        if event.seq != expected:
            raise AttemptLostError(f"the machine sent event {event.seq} where {expected} was due", machine_suspect=True)
