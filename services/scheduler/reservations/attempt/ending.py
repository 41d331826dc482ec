"""Ends the sessions of a reservation, and says what their end means for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta

from wavepool.executor.v1 import session_pb2
from wavepool.executor.v1.session_pb2 import SessionEnded

from services.scheduler import metrics
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.outcome import IMAGE, TIME_WAS_UP, Ending
from services.scheduler.jobs.reservation import ReservedDisk
from services.scheduler.jobs.states import JobState
from services.scheduler.peers.executors import ExecutorError
from services.scheduler.reservations.attempt.session import BACKOFF, Session
from services.scheduler.runs.leased_attempt import AttemptLostError, Duty
from services.scheduler.wire import payloads
from vocabulary.backoff import again_and_again
from vocabulary.verdicts import CANCELLED

CLOSE_GRACE = timedelta(seconds=30)
"""Time for the programs of a session that is cancelled, between SIGTERM and SIGKILL: as at an end by its time."""
POOL_SAYS_WHY = timedelta(seconds=15)
"""Time for the pool to say why an executor was stopped: its provider may end a machine before the pool hears of it."""
OTHERS_END = timedelta(seconds=30)
"""Time for the other sessions of a reservation to end after its first machine's did; later they end by themselves."""
MOST_DETAILS = 500
"""Characters that are kept of what an executor says of a session's end."""
_ENDS_FROM_INSIDE = {
    session_pb2.SESSION_END_REASON_SANDBOX_ENDED: "Its session was ended from inside, or ran out of memory.",
    session_pb2.SESSION_END_REASON_CLOSED: "Its session was closed on the machine.",
    session_pb2.SESSION_END_REASON_DISK_FULL: (
        "The machine's disk was nearly full, and this session had used the most beyond its share."
    ),
}


class SessionEnd:
    """The end of a reservation's sessions; `begin` begins a duty of the attempt."""

    def __init__(self, session: Session, no_show_reason: str, begin: Callable[[Duty], None]) -> None:
        self._session = session
        self._no_show_reason = no_show_reason
        self._begin = begin
        self._first: tuple[SessionEnded, datetime] | None = None
        """The end of that of its sessions which ended first."""
        self._over: set[int] = set()
        """The ranks of the machines whose sessions are over."""
        self._all_over = asyncio.Event()
        self.executor_stopped = False
        """True once a session has said that its executor was stopped."""
        self.give_up: Callable[[], None] | None = None
        """Ends the attempt for the reason that the pool gave, while a last snapshot is awaited."""

    async def close_all(self, grace: timedelta) -> None:
        """Ends the sessions that are not over; raises ExecutorError if one of the machines does not do it."""
        session = self._session
        left = [lease for rank, lease in enumerate(session.leases) if rank not in self._over]
        closing = (session.executors.close_session(session.job, lease, grace) for lease in left)
        faults = [one for one in await asyncio.gather(*closing, return_exceptions=True) if one]
        if faults:
            raise faults[0]

    async def pass_cancellation_on(self) -> Job:
        """Closes the session, for as long as it takes: it ends by its time at the latest."""

        async def close() -> None:
            # Repeat even after success: a session that is opened a moment later must end, too.
            with suppress(ExecutorError):
                await self.close_all(CLOSE_GRACE)

        return await again_and_again(close, BACKOFF)

    async def finish(self, ended: SessionEnded, end_time: datetime, rank: int) -> Job:
        """Settles the reservation after a session's last event; raises AttemptLostError if it was lost by our fault."""
        session = self._session
        is_stopped = ended.reason == session_pb2.SESSION_END_REASON_EXECUTOR_STOPPED
        if is_stopped and session.reservation.active_time and not (session.is_cancelled or session.job.cancel_time):
            await self._hear_why()
            raise self._lost_by(ended, rank)
        if session.job.more_leases:
            ended, end_time = await self._end_with_others(ended, end_time, rank)
        async with session.turn:
            reservation = session.reservation
            if session.is_cancelled:
                row = await session.stored()
                cancel_time = row.cancel_time if row and row.cancel_time else end_time
                return await self._settle(JobState.CANCELLED, reservation.used(min(end_time, cancel_time)))
            if reservation.active_time and ended.reason == session_pb2.SESSION_END_REASON_EXPIRED:
                return await self._settle(JobState.FINISHED, reservation.used(end_time), TIME_WAS_UP)
            if reservation.active_time and (message := _ENDS_FROM_INSIDE.get(ended.reason)):
                return await self._settle(JobState.FINISHED, reservation.used(end_time), message)
        raise self._lost_by(ended, rank)

    async def _hear_why(self) -> None:
        """Waits for the pool, which ends the attempt, to say why the machine was stopped: its owner is to read that."""
        if self.give_up:
            self.give_up()
        self.executor_stopped = True
        await asyncio.sleep(POOL_SAYS_WHY.total_seconds())

    def _lost_by(self, ended: SessionEnded, rank: int) -> AttemptLostError:
        session, details = self._session, _readable(ended.details)
        on_machine = f" on {session.machine(rank)}" if session.job.more_leases else ""
        reason = f"its session{on_machine} ended ({_reason_text(ended.reason)}{': ' + details if details else ''})"
        # An executor that is stopped is no fault of its machine, and an image may be anything.
        is_fault = ended.reason == session_pb2.SESSION_END_REASON_FAILED and not session.reservation.has_image
        final = None
        if ended.reason == session_pb2.SESSION_END_REASON_IMAGE:
            # Its user's mistake, which no alert of ours is about.
            final = Ending(JobState.CANCELLED, CANCELLED, f"{details} Nothing is charged.", IMAGE)
        return AttemptLostError(
            reason, machine_suspect=ended.unkillable or is_fault, lease=session.leases[rank], final=final
        )

    async def _end_with_others(
        self, ended: SessionEnded, end_time: datetime, rank: int
    ) -> tuple[SessionEnded, datetime]:
        """Ends all sessions once one of them has ended, as they are one reservation; gives the end of the first.

        Returns on rank 0 alone, whose disk is saved first. Raises AttemptLostError if a session ended by a fault.
        """
        session = self._session
        is_meant = session.is_cancelled or ended.reason in {session_pb2.SESSION_END_REASON_EXPIRED, *_ENDS_FROM_INSIDE}
        if self._first is None:
            is_due = session.is_cancelled or session.reservation.active_time
            if not (is_meant and is_due):
                raise self._lost_by(ended, rank)
            self._first = ended, end_time
            if not session.is_cancelled:
                self._begin(self.pass_cancellation_on)
        self._over.add(rank)
        if len(self._over) == len(session.leases):
            self._all_over.set()
        if rank:
            return await asyncio.Future()
        with suppress(TimeoutError):
            async with asyncio.timeout(OTHERS_END.total_seconds()):
                await self._all_over.wait()
        return self._first

    async def _settle(self, ending: JobState, used: timedelta, message: str = "") -> Job:
        job, reservation = self._session.job, self._session.reservation
        end_reason = reservation.end_reason
        message = end_reason or message or "Cancelled."
        if reservation.disk and reservation.disk.fault:
            message = f"{message} {_unsaved(reservation.disk)}"
        why = "no_show" if end_reason == self._no_show_reason else "early" if end_reason else ""
        metrics.reservations_ended.labels(ending, why).inc()
        gpu_seconds = metrics.reservation_gpu_seconds.labels(job.user_id, job.machine_gpu_type)
        gpu_seconds.inc(used.total_seconds() * job.spec.gpus_in_all)
        settling = job.settle(payloads.session_outcome(job, ending, used, message))
        return await self._session.write(settling.changed(reservation=reservation.without_sessions()), [])


def _unsaved(disk: ReservedDisk) -> str:
    return f"Its disk {disk.name} could not be saved at the end ({disk.fault}), and {disk.kept}."


def _readable(details: str) -> str:
    """The last words of a sandbox, some of which its users may have written; databases do not take all characters."""
    return "".join(
        one if one.isprintable() else " " if one.isspace() else "" for one in details[-MOST_DETAILS:]
    ).strip()


def _reason_text(number: int) -> str:
    """Why a session ended, for people; newer executors may have reasons that we do not know."""
    known = session_pb2.SessionEndReason.DESCRIPTOR.values_by_number.get(number)
    return known.name.removeprefix("SESSION_END_REASON_").lower().replace("_", " ") if known else f"reason {number}"
