"""One attempt at a reservation: its session on a leased machine, which outlives us and everybody else.

The session ends by itself at the time that its executor knows. So nothing that is silent for a while is given up: a
machine is lost when vmpool says so, or when it has not told the end of the session long after that was due. All changes
of the reservation are made here, one at a time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

from wavepool.executor.v1.session_pb2 import SessionEvent, SessionSnapshot

from servicekit.cancellation import uncut
from servicekit.clock import Clock
from services.scheduler.config import SchedulerSettings
from services.scheduler.jobs.dated_limits import time_text
from services.scheduler.jobs.errors import MachineUnreachableError, StaleJobError, WrongReservationStateError
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.outcome import Ending
from services.scheduler.jobs.reservation import LONGEST_PREPARING, Extension, Recall, Reservation
from services.scheduler.jobs.retries import lost_with_disk
from services.scheduler.jobs.spec import Lease
from services.scheduler.jobs.states import JobState
from services.scheduler.peers.executors import ExecutorError, RunInterruptedError
from services.scheduler.peers.peers import Peers
from services.scheduler.peers.pool import PoolError
from services.scheduler.reservations.attempt.charging import Charging
from services.scheduler.reservations.attempt.disk import SessionDisk
from services.scheduler.reservations.attempt.ending import SessionEnd
from services.scheduler.reservations.attempt.following import Following
from services.scheduler.reservations.attempt.lease import SessionLease
from services.scheduler.reservations.attempt.no_show import NoShow
from services.scheduler.reservations.attempt.session import BACKOFF, SILENT, Session
from services.scheduler.runs.job_runner import JobRunner
from services.scheduler.runs.leased_attempt import AttemptLostError, Duty, LeasedSession
from services.scheduler.store.build_store import SessionStores
from services.scheduler.store.job_store import JobStore
from services.scheduler.wire import payloads
from vocabulary.backoff import until

LAST_SNAPSHOT = timedelta(seconds=15)
"""Time for a machine that is stopped by request to tell the last snapshot of a disk: more than it has to end."""
_REMOVED_IN_SILENCE = (
    "Saved, but the machine has not confirmed it. We keep retrying; removed users may stay connected until it answers. "
    "If that lasts, cancel the reservation."
)


class SessionAttempt(LeasedSession):
    """An attempt at a reservation's session."""

    def __init__(
        self,
        job: Job,
        lease: Lease,
        note: Callable[[Job], None],
        *,
        store: JobStore,
        peers: Peers,
        clock: Clock,
        settings: SchedulerSettings,
        stores: SessionStores,
    ) -> None:
        session = self._session = Session(
            job, lease, store=store, executors=peers.executors, clock=clock, note=note, cancel=self.cancel
        )
        super().__init__(session)
        self._billing = peers.billing
        self._executors = peers.executors
        self._lease = SessionLease(session, peers.pool, settings.reservation_lease_renewal)
        self._disk = SessionDisk(session, stores.disks)
        self._charging = Charging(session, peers.billing)
        self._no_show = NoShow(session, settings, self.end_early)
        self._ending = SessionEnd(session, self._no_show.reason, self._begin)
        self._following = Following(session, self._disk, stores.builds, self._ending, self._becomes_active)

    async def run(self, *, resumed: bool) -> Job:
        """Opens the session, or attaches to it if `resumed`; see LeasedAttempt."""
        if not resumed:
            await self._renew()
        return await super().run(resumed=resumed)

    def machine_gone(self, machine_id: str, reason: str, *, stopped: bool) -> None:
        """Notes that vmpool has given a machine up; one that is `stopped` may still tell a disk's last snapshot."""
        reservation = self._session.reservation
        is_followed = self._end is not None and not self._end.done() and machine_id == self._session.lease.machine_id
        keeps_home = reservation.disk and reservation.active_time
        if stopped and is_followed and keeps_home and not self._ending.executor_stopped:
            self._ending.give_up = partial(super().machine_gone, machine_id, reason, stopped=stopped)
            timer = asyncio.get_running_loop().call_later(LAST_SNAPSHOT.total_seconds(), self._ending.give_up)
            self._timers.append(timer)
            return
        super().machine_gone(machine_id, reason, stopped=stopped)

    async def end_run(self) -> None:
        """Ends the sessions at once; raises ExecutorError."""
        await self._ending.close_all(timedelta(0))

    def settled_by_loss(self, job: Job, ending: Ending, reason: str, now: datetime) -> Job:
        """See LeasedAttempt. What people could use until then is charged if they ended it, or if a disk has it."""
        reservation = job.reserved
        if job.cancel_time and reservation.active_time:
            message = reservation.end_reason or "Cancelled."
            used = reservation.used(job.cancel_time)
            return job.settle(payloads.session_outcome(job, JobState.CANCELLED, used, message))
        if not reservation.active_time or ending.state is not JobState.FAILED:
            return super().settled_by_loss(job, ending, reason, now)
        lost = job.changed(reservation=reservation.lost(now))
        if not reservation.saved:
            return super().settled_by_loss(lost, ending, reason, now)
        message = lost_with_disk(reservation, reason, now)
        outcome = payloads.session_outcome(job, JobState.FAILED, reservation.saved, message)
        return lost.settle(replace(outcome, verdict=ending.verdict))

    async def extend(self, key: str, extension_of: Callable[[Reservation], Extension]) -> Job:
        """Adds time: first to the lease, then to the hold, then to the session. A repeated key changes nothing.

        Raises what `extension_of` raises, WrongReservationStateError, MachineUnreachableError, CreditRefusedError,
        BillingUnreachableError.
        """
        # Somebody who stops waiting leaves nothing half-done: the machine would go on for longer than is stored.
        return await uncut(self._extend(key, extension_of))

    async def _extend(self, key: str, extension_of: Callable[[Reservation], Extension]) -> Job:
        session = self._session
        async with session.turn:
            if session.reservation.extension(key):
                return session.job
            self._check_open()
            extension = extension_of(session.reservation)
            after, hold_micros = session.reservation.extended(extension), session.job.hold_micros
            await self._lease.lengthen(after)
            if session.job.hold_id:
                hold_micros = await self._billing.extend(session.job, session.job.hold_id, after.total, key)
            if after.active_time:
                await session.tell_machines(after)
            job = session.job.changed(reservation=after, hold_micros=hold_micros)
            return await session.write(job, [payloads.extended(after, extension)])

    async def end_early(self, reason: str, user_id: str = "") -> Job:
        """See LeasedSession."""
        session = self._session
        async with session.turn:
            if not session.is_ending:
                cancelled = session.job.request_cancel(session.clock.now())
                changed = cancelled.changed(reservation=replace(session.reservation, end_reason=reason))
                await session.write(changed, [payloads.ending(user_id, reason)])
                self.cancel()
            return session.job

    async def recall(self, queue: str, notice: timedelta, *, still: bool) -> None:
        """Gives notice that it is ended for another queue, ends it once the notice is over, or takes the notice back.

        `queue` needs its GPUs now; empty if none does. `still` says that the queue of the notice still waits.
        """
        reservation, now = self._session.reservation, self._session.clock.now()
        said = reservation.recall
        if said and queue and now >= said.time:
            await self.end_early(
                f"Queue {queue} waited for GPUs of its own quota, and this reservation had more than the quota of "
                f"queue {self._session.job.spec.queue}, so it was ended (recallNotice)."
            )
        elif said and not still:
            await self._note_recall(said.queue, queue, notice)
        elif queue and not said and reservation.end_if_opened(now) > now + notice:
            await self._note_recall("", queue, notice)

    async def _note_recall(self, before: str, queue: str, notice: timedelta) -> None:
        """Notes for which queue it is ended; empty: for none any more. With another queue its end stays."""
        session = self._session
        async with session.turn:
            said = session.reservation.recall
            if session.is_ending or (said.queue if said else "") != before:
                return
            end = said.time if said else session.clock.now() + notice
            recall = Recall(queue, end) if queue else None
            event = payloads.recalled(queue or before, end if queue else None)
            await session.change(replace(session.reservation, recall=recall), [event])
        text = f"This session is no longer ended for queue {before}."
        if recall:
            text = f"Queue {queue} needs these GPUs: this session ends at {time_text(end)}. Save your work."
        # Those whom it does not reach read the event.
        told = (self._executors.notify(session.job, lease, text) for lease in session.leases)
        await asyncio.gather(*told, return_exceptions=True)

    async def change(self, change: Callable[[Reservation], Reservation], user_id: str) -> Job:
        """Changes who may log in, or the name, for a user.

        Raises what `change` raises, WrongReservationStateError, MachineUnreachableError. Keys are out even if the
        machine does not answer: it is told until it does.
        """
        return await uncut(self._change(change, user_id))

    async def _change(self, change: Callable[[Reservation], Reservation], user_id: str) -> Job:
        session = self._session
        async with session.turn:
            self._check_open()
            before = session.reservation
            after = change(before)
            if after.who == before.who:
                return await session.change(after, [])
            events = [payloads.users_changed(before, after, user_id)]
            try:
                await session.tell_machines(after)
            except MachineUnreachableError as error:
                if not set(before.keys) - set(after.keys):
                    raise
                await session.change(after, events)
                # Not that the machine is unreachable: callers try that again by themselves.
                raise WrongReservationStateError(_REMOVED_IN_SILENCE) from error
            return await session.change(after, events)

    def _check_open(self) -> None:
        if self._end and self._end.done():
            raise WrongReservationStateError("The reservation has lost its machine, or is ending. Look at it again.")
        self._session.check_open()

    async def snapshot(self) -> SessionSnapshot:
        """Takes a snapshot of the disk; raises WrongReservationStateError, MachineUnreachableError."""
        try:
            taken = await self._executors.snapshot(self._session.job, self._session.lease)
        except RunInterruptedError as error:
            raise MachineUnreachableError(SILENT) from error
        except ExecutorError as error:
            raise WrongReservationStateError(f"No snapshot can be taken of its home: {error}") from error
        # Its event comes a moment later, and a caller who gets the answer must find it.
        await self._disk.keep(SessionEvent(snapshot=taken))
        return taken

    async def notify(self, text: str, user_id: str) -> int:
        """Writes a user's text to the session's terminals; gives their number.

        Raises WrongReservationStateError, MachineUnreachableError.
        """
        session = self._session
        try:
            terminals = sum([await self._executors.notify(session.job, lease, text) for lease in session.leases])
        except RunInterruptedError as error:
            raise MachineUnreachableError(SILENT) from error
        except ExecutorError as error:
            raise WrongReservationStateError(f"Its session takes no message: {error}") from error
        async with session.turn:
            if session.job.state is JobState.RUNNING:
                # People have read it, whatever became of the reservation meanwhile.
                with suppress(StaleJobError):
                    await session.write(session.job, [payloads.notified(text, terminals, user_id)])
        return terminals

    async def _follow(self) -> Job:
        return await self._following.follow(0)

    def _later_duties(self) -> Iterable[tuple[float, Duty]]:
        session = self._session
        others = [(0.0, partial(self._following.follow, rank)) for rank in range(1, len(session.leases))]
        if session.reservation.active_time:
            return [*others, *self._active_duties()]
        return [*others, (session.seconds_until(session.started + LONGEST_PREPARING), self._lease.exceed_preparing)]

    def _active_duties(self) -> list[tuple[float, Duty]]:
        """What is done while people can log in."""
        at_once = [self._charging.charge_each_minute, self._lease.exceed_time, self._session.keep_told]
        if self._session.reservation.store_id:
            at_once.append(self._disk.remove_unwanted)
        keep_lease = (self._lease.renewal.total_seconds(), self._lease.keep)
        return [*((0.0, duty) for duty in at_once), keep_lease, *self._no_show.duties()]

    async def _becomes_active(self) -> None:
        """The clock starts now: the machines, which were given a time before they were ready, are told the true end."""
        session = self._session
        async with session.turn:
            with suppress(MachineUnreachableError, WrongReservationStateError):
                await session.tell_machines(session.reservation)
            with suppress(PoolError):
                await self._lease.renew_for(session.reservation)
        for seconds, duty in self._active_duties():
            self._begin_after(seconds, duty)

    async def _pass_cancellation_on(self) -> Job:
        return await self._ending.pass_cancellation_on()

    async def _renew(self) -> None:
        # Once there is a session, the lease is as long as it is. Before that it lasts no longer than a job's.
        await until(self._may_go_on, BACKOFF)
        if self._session.is_cancelled and not self._session.job.run_seq:
            raise AttemptLostError("it was cancelled before there was a session", excused=True)

    async def _may_go_on(self) -> bool:
        """True if the lease is renewed, or nothing is lost if it is not."""
        is_renewed = await self._lease.is_renewed()
        return is_renewed or bool(self._session.job.run_seq or self._session.is_cancelled or self._stopped)


def session_of(runner: JobRunner, job_id: str) -> SessionAttempt:
    """The attempt at a reservation; raises MachineUnreachableError if it holds no machine now."""
    session = runner.session(job_id)
    if isinstance(session, SessionAttempt):
        return session
    raise MachineUnreachableError("The reservation is being taken on, or is ending. Try again in a moment.")
