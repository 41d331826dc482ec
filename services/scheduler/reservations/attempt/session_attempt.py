"""One attempt at a reservation: its session on a leased machine, which outlives us and everybody else.

The session ends by itself at the time that its executor knows. So nothing that is silent for a while is given up: a
machine is lost when vmpool says so, or when it has not told the end of the session long after that was due. All changes
of the reservation are made here, one at a time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from contextlib import aclosing, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial

from wavepool.executor.v1 import session_pb2
from wavepool.executor.v1.session_pb2 import SessionEnded, SessionEvent, SessionReady, SessionSnapshot

from servicekit.clock import Clock
from servicekit.logging import get_logger
from services.scheduler import metrics
from services.scheduler.config import SchedulerSettings
from services.scheduler.jobs.dated_limits import time_text
from services.scheduler.jobs.disk import LentDisk
from services.scheduler.jobs.errors import (
    BillingUnreachableError,
    MachineUnreachableError,
    StaleJobError,
    WrongReservationStateError,
)
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.outcome import IMAGE, TIME_WAS_UP, Ending
from services.scheduler.jobs.reservation import (
    GRACE,
    LONGEST_PREPARING,
    SILENCE_AFTER_END,
    Extension,
    Recall,
    Reservation,
    ReservationState,
    ReservedDisk,
)
from services.scheduler.jobs.spec import Lease
from services.scheduler.jobs.states import JobState
from services.scheduler.peers.executors import (
    ExecutorError,
    MachineUnfitError,
    RunInterruptedError,
    RunRefusedError,
    RunUnknownError,
)
from services.scheduler.peers.peers import Peers
from services.scheduler.peers.pool import LeaseGoneError, PoolError, PoolUnreachableError
from services.scheduler.queue.batching import batches
from services.scheduler.queue.uncut import uncut
from services.scheduler.reservations.wire.disks import snapshot_from_proto
from services.scheduler.runs.job_runner import JobRunner
from services.scheduler.runs.leased_attempt import AttemptLostError, Duty, LeasedSession, check_contiguous
from services.scheduler.store.build_store import SessionStores
from services.scheduler.store.job_store import JobStore
from services.scheduler.wire import payloads
from vocabulary.backoff import Backoff, Retries
from vocabulary.verdicts import CANCELLED, INFRA_ERROR

log = get_logger(__name__)

CLOSE_GRACE = timedelta(seconds=30)
"""Time for the programs of a session that is cancelled, between SIGTERM and SIGKILL: as at an end by its time."""
NO_SHOW_WARNING = timedelta(minutes=10)
"""A reservation that nobody has logged in to is warned so long before it is ended."""
LAST_SNAPSHOT = timedelta(seconds=15)
"""Time for a machine that is stopped by request to tell the last snapshot of a disk: more than it has to end."""
POOL_SAYS_WHY = timedelta(seconds=15)
"""Time for the pool to say why an executor was stopped: its provider may end a machine before the pool hears of it."""
OTHERS_END = timedelta(seconds=30)
"""Time for the other sessions of a reservation to end after its first machine's did; later they end by themselves."""
RETRY_BACKOFF = Backoff(first=timedelta(seconds=0.1), longest=timedelta(seconds=5))
_NO_IMAGES, _NO_CONTEXT, _NO_ENTRYPOINT = (
    Ending(JobState.FAILED, INFRA_ERROR, f"{why} Nothing is charged.")
    for why in (
        "Its machine has an earlier version of Wavepool, which does not support images.",
        "The folder that its image is built from is no longer stored. Reserve again.",
        "Its machine has an earlier version of Wavepool, which cannot start the command of an image.",
    )
)
_SILENT = "The machine of the reservation does not answer. Try again."
_REMOVED_IN_SILENCE = (
    "Saved, but the machine has not confirmed it. We keep retrying; removed users may stay connected until it answers. "
    "If that lasts, cancel the reservation."
)
MOST_DETAILS = 500
"""Characters that are kept of what an executor says of a session's end."""
_ENDS_FROM_INSIDE = {
    session_pb2.SESSION_END_REASON_SANDBOX_ENDED: "Its session was ended from inside, or ran out of memory.",
    session_pb2.SESSION_END_REASON_CLOSED: "Its session was closed on the machine.",
    session_pb2.SESSION_END_REASON_DISK_FULL: (
        "The machine's disk was nearly full, and this session had used the most beyond its share."
    ),
}


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
        super().__init__(job, lease)
        self._tell = note
        self._disks = stores.disks
        self._builds = stores.builds
        self._store = store
        self._pool = peers.pool
        self._executors = peers.executors
        self._billing = peers.billing
        self._clock = clock
        self._settings = settings
        self._turn = asyncio.Lock()
        self._untold = asyncio.Event()
        """Set while a machine may have something else than is stored, because it did not answer a change."""
        self._first_end: tuple[SessionEnded, datetime] | None = None
        """The end of that of its sessions which ended first."""
        self._over: set[int] = set()
        """The ranks of the machines whose sessions are over."""
        self._all_over = asyncio.Event()
        self._executor_stopped = False
        """True once a session has said that its executor was stopped."""
        self._give_up: Callable[[], None] | None = None
        """Ends the attempt for the reason that the pool gave, while a last snapshot is awaited."""

    @property
    def _reservation(self) -> Reservation:
        return self.job.reserved

    async def run(self, *, resumed: bool) -> Job:
        """Opens the session, or attaches to it if `resumed`; see LeasedAttempt."""
        if not resumed:
            await self._renew()
        return await super().run(resumed=resumed)

    def machine_gone(self, machine_id: str, reason: str, *, stopped: bool) -> None:
        """Notes that vmpool has given a machine up; one that is `stopped` may still tell a disk's last snapshot."""
        is_followed = self._end is not None and not self._end.done() and machine_id == self.lease.machine_id
        keeps_home = self._reservation.disk and self._reservation.active_time
        if stopped and is_followed and keeps_home and not self._executor_stopped:
            self._give_up = partial(super().machine_gone, machine_id, reason, stopped=stopped)
            self._timers.append(asyncio.get_running_loop().call_later(LAST_SNAPSHOT.total_seconds(), self._give_up))
            return
        super().machine_gone(machine_id, reason, stopped=stopped)

    async def end_run(self) -> None:
        """Ends the sessions at once; raises ExecutorError."""
        await self._close_all(timedelta(0))

    async def _close_all(self, grace: timedelta) -> None:
        """Ends the sessions that are not over; raises ExecutorError if one of the machines does not do it."""
        left = [lease for rank, lease in enumerate(self.leases) if rank not in self._over]
        closing = (self._executors.close_session(self.job, lease, grace) for lease in left)
        faults = [one for one in await asyncio.gather(*closing, return_exceptions=True) if one]
        if faults:
            raise faults[0]

    async def extend(self, key: str, extension_of: Callable[[Reservation], Extension]) -> Job:
        """Adds time: first to the lease, then to the hold, then to the session. A repeated key changes nothing.

        Raises what `extension_of` raises, WrongReservationStateError, MachineUnreachableError, CreditRefusedError,
        BillingUnreachableError.
        """
        # Somebody who stops waiting leaves nothing half-done: the machine would go on for longer than is stored.
        return await uncut(self._extend(key, extension_of))

    async def _extend(self, key: str, extension_of: Callable[[Reservation], Extension]) -> Job:
        async with self._turn:
            reservation = self._reservation
            if reservation.extension(key):
                return self.job
            self._check_open()
            extension = extension_of(reservation)
            after, hold_micros = reservation.extended(extension), self.job.hold_micros
            await self._lengthen_lease(after)
            if self.job.hold_id:
                hold_micros = await self._billing.extend(self.job, self.job.hold_id, after.total, key)
            if after.active_time:
                await self._tell_machines(after)
            event = payloads.extended(after, extension)
            job = self.job.changed(reservation=after, hold_micros=hold_micros)
            return await self._write(job, [event])

    async def end_early(self, reason: str, user_id: str = "") -> Job:
        """See LeasedSession."""
        async with self._turn:
            is_ending = self._is_cancelled or self.job.cancel_time or self.job.state is not JobState.RUNNING
            if not is_ending:
                cancelled = self.job.request_cancel(self._clock.now())
                changed = cancelled.changed(reservation=replace(self._reservation, end_reason=reason))
                await self._write(changed, [payloads.ending(user_id, reason)])
                self.cancel()
            return self.job

    async def recall(self, queue: str, notice: timedelta, *, still: bool) -> None:
        """Gives notice that it is ended for another queue, ends it once the notice is over, or takes the notice back.

        `queue` needs its GPUs now; empty if none does. `still` says that the queue of the notice still waits.
        """
        said, now = self._reservation.recall, self._clock.now()
        if said and queue and now >= said.time:
            await self.end_early(
                f"Queue {queue} waited for GPUs of its own quota, and this reservation had more than the quota of "
                f"queue {self.job.spec.queue}, so it was ended (recallNotice)."
            )
        elif said and not still:
            await self._note_recall(said.queue, queue, notice)
        elif queue and not said and self._reservation.end_if_opened(now) > now + notice:
            await self._note_recall("", queue, notice)

    async def _note_recall(self, before: str, queue: str, notice: timedelta) -> None:
        """Notes for which queue it is ended; empty: for none any more. With another queue its end stays."""
        async with self._turn:
            said = self._reservation.recall
            is_over = self.job.state is not JobState.RUNNING or self._is_cancelled or self.job.cancel_time
            if is_over or (said.queue if said else "") != before:
                return
            end = said.time if said else self._clock.now() + notice
            recall = Recall(queue, end) if queue else None
            event = payloads.recalled(queue or before, end if queue else None)
            await self._write(self.job.changed(reservation=replace(self._reservation, recall=recall)), [event])
        text = f"This session is no longer ended for queue {before}."
        if recall:
            text = f"Queue {queue} needs these GPUs: this session ends at {time_text(end)}. Save your work."
        # Those whom it does not reach read the event.
        told = (self._executors.notify(self.job, lease, text) for lease in self.leases)
        await asyncio.gather(*told, return_exceptions=True)

    async def change(self, change: Callable[[Reservation], Reservation], user_id: str) -> Job:
        """Changes who may log in, or the name, for a user.

        Raises what `change` raises, WrongReservationStateError, MachineUnreachableError. Keys are out even if the
        machine does not answer: it is told until it does.
        """
        return await uncut(self._change(change, user_id))

    async def _change(self, change: Callable[[Reservation], Reservation], user_id: str) -> Job:
        async with self._turn:
            self._check_open()
            before = self._reservation
            after = change(before)
            if after.who == before.who:
                return await self._write(self.job.changed(reservation=after), [])
            changed, events = self.job.changed(reservation=after), [payloads.users_changed(before, after, user_id)]
            try:
                await self._tell_machines(after)
            except MachineUnreachableError as error:
                if not set(before.keys) - set(after.keys):
                    raise
                await self._write(changed, events)
                # Not that the machine is unreachable: callers try that again by themselves.
                raise WrongReservationStateError(_REMOVED_IN_SILENCE) from error
            return await self._write(changed, events)

    def _check_open(self) -> None:
        state = self.job.reservation_state
        if self._end and self._end.done():
            raise WrongReservationStateError("The reservation has lost its machine, or is ending. Look at it again.")
        if self._is_cancelled or state not in {ReservationState.PREPARING, ReservationState.ACTIVE}:
            raise WrongReservationStateError(f"The reservation is {state} and cannot be changed. Make another one.")

    async def snapshot(self) -> SessionSnapshot:
        """Takes a snapshot of the disk; raises WrongReservationStateError, MachineUnreachableError."""
        try:
            taken = await self._executors.snapshot(self.job, self.lease)
        except RunInterruptedError as error:
            raise MachineUnreachableError(_SILENT) from error
        except ExecutorError as error:
            raise WrongReservationStateError(f"No snapshot can be taken of its home: {error}") from error
        # Its event comes a moment later, and a caller who gets the answer must find it.
        await self._keep(SessionEvent(snapshot=taken))
        return taken

    async def notify(self, text: str, user_id: str) -> int:
        """Writes a user's text to the session's terminals; gives their number.

        Raises WrongReservationStateError, MachineUnreachableError.
        """
        try:
            terminals = sum([await self._executors.notify(self.job, lease, text) for lease in self.leases])
        except RunInterruptedError as error:
            raise MachineUnreachableError(_SILENT) from error
        except ExecutorError as error:
            raise WrongReservationStateError(f"Its session takes no message: {error}") from error
        async with self._turn:
            if self.job.state is JobState.RUNNING:
                # People have read it, whatever became of the reservation meanwhile.
                with suppress(StaleJobError):
                    await self._write(self.job, [payloads.notified(text, terminals, user_id)])
        return terminals

    async def _lengthen_lease(self, reservation: Reservation) -> None:
        try:
            await self._renew_for(reservation)
        except PoolUnreachableError as error:
            raise MachineUnreachableError("The pool of machines does not answer. Try again.") from error
        except PoolError as error:
            raise WrongReservationStateError(f"Its machine is not available for that long: {error}") from error

    async def _tell_machines(self, reservation: Reservation) -> None:
        """Gives the sessions that there are their users and their end."""
        try:
            for rank, lease in enumerate(self.leases):
                if self._seq(rank):
                    await self._executors.update_session(self.job, reservation, lease)
        except RunInterruptedError as error:
            self._untold.set()
            raise MachineUnreachableError(_SILENT) from error
        except ExecutorError as error:
            raise WrongReservationStateError(f"The session cannot be changed any more: {error}") from error

    def _later_duties(self) -> Iterable[tuple[float, Duty]]:
        others = [(0.0, partial(self._follow_on, rank)) for rank in range(1, len(self.leases))]
        if self._reservation.active_time is None:
            return [*others, (self._seconds_until(self._started + LONGEST_PREPARING), self._exceed_preparing)]
        return [*others, *self._active_duties()]

    def _active_duties(self) -> list[tuple[float, Duty]]:
        """What is done while people can log in."""
        reservation, no_show = self._reservation, self._no_show_after
        duties: list[tuple[float, Duty]] = [(0.0, self._charge_each_minute), (0.0, self._exceed_time)]
        duties.append((0.0, self._keep_told))
        duties.append((self._settings.reservation_lease_renewal.total_seconds(), self._keep_lease))
        if reservation.store_id:
            duties.append((0.0, self._remove_unwanted))
        if no_show and reservation.active_time and not self._is_used:
            end = reservation.active_time + no_show
            duties.append((self._seconds_until(end - min(NO_SHOW_WARNING, no_show / 2)), self._warn_of_no_show))
            duties.append((self._seconds_until(end), self._end_no_show))
        return duties

    def _seq(self, rank: int) -> int:
        """The last event of the session on a machine that is in the log; 0 before there is a session."""
        return self._reservation.nodes[rank - 1].seq if rank else self.job.run_seq

    def _machine(self, rank: int) -> str:
        """A machine in what people read: if there are several, they are told which."""
        return f"the machine {self.leases[rank].machine_id} (node {rank})" if self.job.more_leases else "the machine"

    async def _follow(self) -> Job:
        return await self._follow_on(0)

    async def _follow_on(self, rank: int) -> Job:
        """Follows the session on one of the machines. That of rank 0 says how all end."""
        retries, machine, lease = Retries(RETRY_BACKOFF), self._machine(rank), self.leases[rank]
        while True:
            seen = self._seq(rank)
            try:
                return await self._stream(rank)
            except RunInterruptedError as error:
                if self._seq(rank) > seen:
                    retries.reset()
                log.info("a session cannot be followed", extra={"job_id": self.job.job_id, "reason": str(error)})
            except MachineUnfitError as error:
                reason = f"{machine} took no session: {error}"
                raise AttemptLostError(reason, unfit_reason=str(error), lease=lease) from error
            except RunUnknownError as error:
                raise AttemptLostError(f"its session is gone from {machine}") from error
            except RunRefusedError as error:
                raise AttemptLostError(f"{machine} refused the session ({error})") from error
            await retries.wait()

    async def _stream(self, rank: int) -> Job:
        lease = self.leases[rank]
        end_time = self._reservation.end_if_opened(self._clock.now())
        if self._seq(rank) and self._reservation.active_time:
            # What somebody changed when we could not reach the machine, or had written before we were killed.
            with suppress(RunRefusedError, RunUnknownError):
                async with self._turn:
                    await self._executors.update_session(self.job, self._reservation, lease)
        disk = None if rank else await self._lent_disk()
        content = await self._build_context(rank)
        stream = self._executors.open_session(self.job, self._reservation, lease, end_time, disk, rank, content)
        async with aclosing(batches(stream)) as arriving:
            async for batch in arriving:
                events = [event for event in batch if event.seq > self._seq(rank)]
                check_contiguous(self._seq(rank), events)
                ended = events[-1] if events and events[-1].WhichOneof("event") == "ended" else None
                await self._note(events[:-1] if ended else events, rank)
                if ended:
                    return await self._finish(ended.ended, ended.time.ToDatetime(UTC), rank)
        raise RunInterruptedError("the stream ended before the session did")

    async def _build_context(self, rank: int) -> bytes:
        """What the machine builds the image from; nothing once there is a session, or if it builds none."""
        digest = self._reservation.build_digest
        if not digest or self._seq(rank):
            return b""
        if content := await self._builds.content(self.job.account_id, digest):
            return content
        raise AttemptLostError("what its image is built from is gone", final=_NO_CONTEXT)

    async def _lent_disk(self) -> LentDisk | None:
        """What the machine is given of the reservation's disk; a session that is there is known by its disk, too."""
        reserved = self._reservation.disk
        if reserved is None:
            return None
        if lent := await self._disks.lend(reserved.disk_id, self.job):
            return lent
        raise AttemptLostError(f"its disk {reserved.name!r} is held by another reservation")

    async def _remove_unwanted(self) -> Job:
        """Has the machine remove snapshots that no disk has any more, if it has the place where they are."""
        store_id = self._reservation.store_id
        while unwanted := await self._disks.unwanted(store_id):
            for one in unwanted:
                try:
                    await self._executors.remove_snapshots(self.job, self.lease, store_id, one)
                except ExecutorError as error:
                    # The next session with a disk there tries again.
                    log.info("snapshots are not removed", extra={"store_id": store_id, "reason": str(error)})
                    return await asyncio.Future()
                await self._disks.removed(one.snapshot_ids)
        return await asyncio.Future()

    async def _keep(self, event: SessionEvent) -> SessionEvent:
        """Notes a snapshot with the disk; gives the event as it is stored, without the long list of files."""
        reserved, taken = self._reservation.disk, event.snapshot
        if reserved is None or not event.HasField("snapshot") or taken.fault:
            return event
        await self._disks.add(reserved.disk_id, self.job, snapshot_from_proto(taken), taken.content)
        stored = type(event)()
        stored.CopyFrom(event)
        stored.snapshot.ClearField("content")
        return stored

    async def _note(self, events: list[SessionEvent], rank: int) -> None:
        """Stores events of a machine's session, and begins what is due once people can log in."""
        if not events:
            return
        async with self._turn:
            before = reservation = self._reservation
            written: list[bytes] = []
            for event in events:
                _count(event)
                had_begun = reservation.active_time is not None
                reservation = reservation.after(event, rank)
                # All machines warn at the same time.
                if not rank or not event.HasField("warning"):
                    written.append(payloads.session(event if rank else await self._keep(event), rank))
                if event.HasField("ready"):
                    self._check_image(event.ready)
                if reservation.active_time and not had_begun:
                    written.append(payloads.active(reservation))
            seq = self.job.run_seq if rank else events[-1].seq
            job = self.job.progress(seq, self.job.cost_micros).changed(reservation=reservation)
            await self._write(job, written)
        if reservation.active_time and not before.active_time:
            await self._becomes_active()

    def _check_image(self, ready: SessionReady) -> None:
        """Raises AttemptLostError if the session is not what was asked for, or not what the other machines have.

        Older executors know no images.
        """
        if self._reservation.has_image and not ready.image_digest:
            raise AttemptLostError("its machine knows nothing of images", final=_NO_IMAGES)
        if self._reservation.preserve_entrypoint and not ready.runs_command:
            raise AttemptLostError("its machine starts no command of an image", final=_NO_ENTRYPOINT)
        known = self._reservation.image_digest
        if known and ready.image_digest != known:
            reason = (
                f"its machines found two images by one tag, {known} and {ready.image_digest}; all get the first one"
            )
            raise AttemptLostError(reason, excused=True)

    async def _becomes_active(self) -> None:
        """The clock starts now: the machines, which were given a time before they were ready, are told the true end."""
        async with self._turn:
            with suppress(MachineUnreachableError, WrongReservationStateError):
                await self._tell_machines(self._reservation)
            with suppress(PoolError):
                await self._renew_for(self._reservation)
        for seconds, duty in self._active_duties():
            self._begin_after(seconds, duty)

    async def _finish(self, ended: SessionEnded, end_time: datetime, rank: int) -> Job:
        is_stopped = ended.reason == session_pb2.SESSION_END_REASON_EXECUTOR_STOPPED
        if is_stopped and self._reservation.active_time and not (self._is_cancelled or self.job.cancel_time):
            await self._hear_why()
            raise self._lost_by(ended, rank)
        if self.job.more_leases:
            ended, end_time = await self._end_with_others(ended, end_time, rank)
        async with self._turn:
            reservation = self._reservation
            if self._is_cancelled:
                row = await self._store.get(self.job.job_id)
                cancel_time = row.cancel_time if row and row.cancel_time else end_time
                return await self._settle(JobState.CANCELLED, reservation.used(min(end_time, cancel_time)))
            if reservation.active_time and ended.reason == session_pb2.SESSION_END_REASON_EXPIRED:
                return await self._settle(JobState.FINISHED, reservation.used(end_time), TIME_WAS_UP)
            if reservation.active_time and (message := _ENDS_FROM_INSIDE.get(ended.reason)):
                return await self._settle(JobState.FINISHED, reservation.used(end_time), message)
        raise self._lost_by(ended, rank)

    async def _hear_why(self) -> None:
        """Waits for the pool, which ends the attempt, to say why the machine was stopped: its owner is to read that."""
        if self._give_up:
            self._give_up()
        self._executor_stopped = True
        await asyncio.sleep(POOL_SAYS_WHY.total_seconds())

    def _lost_by(self, ended: SessionEnded, rank: int) -> AttemptLostError:
        details = _readable(ended.details)
        on_machine = f" on {self._machine(rank)}" if self.job.more_leases else ""
        reason = f"its session{on_machine} ended ({_reason_text(ended.reason)}{': ' + details if details else ''})"
        # An executor that is stopped is no fault of its machine, and an image may be anything.
        is_fault = ended.reason == session_pb2.SESSION_END_REASON_FAILED and not self._reservation.has_image
        final = None
        if ended.reason == session_pb2.SESSION_END_REASON_IMAGE:
            # Its user's mistake, which no alert of ours is about.
            final = Ending(JobState.CANCELLED, CANCELLED, f"{details} Nothing is charged.", IMAGE)
        return AttemptLostError(
            reason, machine_suspect=ended.unkillable or is_fault, lease=self.leases[rank], final=final
        )

    async def _end_with_others(
        self, ended: SessionEnded, end_time: datetime, rank: int
    ) -> tuple[SessionEnded, datetime]:
        """Ends all sessions once one of them has ended, as they are one reservation; gives the end of the first.

        Returns on rank 0 alone, whose disk is saved first. Raises AttemptLostError if a session ended by a fault.
        """
        is_meant = self._is_cancelled or ended.reason in {session_pb2.SESSION_END_REASON_EXPIRED, *_ENDS_FROM_INSIDE}
        if self._first_end is None:
            is_due = self._is_cancelled or self._reservation.active_time
            if not (is_meant and is_due):
                raise self._lost_by(ended, rank)
            self._first_end = ended, end_time
            if not self._is_cancelled:
                self._begin(self._pass_cancellation_on)
        self._over.add(rank)
        if len(self._over) == len(self.leases):
            self._all_over.set()
        if rank:
            return await asyncio.Future()
        with suppress(TimeoutError):
            async with asyncio.timeout(OTHERS_END.total_seconds()):
                await self._all_over.wait()
        return self._first_end

    async def _settle(self, ending: JobState, used: timedelta, message: str = "") -> Job:
        reservation = self._reservation
        message = reservation.end_reason or message or "Cancelled."
        if reservation.disk and reservation.disk.fault:
            message = f"{message} {_unsaved(reservation.disk)}"
        end_reason = reservation.end_reason
        why = "no_show" if end_reason == self._no_show_reason else "early" if end_reason else ""
        metrics.reservations_ended.labels(ending, why).inc()
        gpus = self.job.spec.gpus_in_all
        gpu_seconds = metrics.reservation_gpu_seconds.labels(self.job.user_id, self.job.machine_gpu_type)
        gpu_seconds.inc(used.total_seconds() * gpus)
        outcome = payloads.session_outcome(self.job, ending, used, message)
        settling = self.job.settle(outcome).changed(reservation=reservation.without_sessions())
        return await self._write(settling, [])

    async def _write(self, after: Job, events: list[bytes]) -> Job:
        self.job = await uncut(self._store.move(self.job, after, events, self._clock.now()))
        self._tell(self.job)
        if self.job.cancel_time and self.job.state is JobState.RUNNING:
            # Perhaps nobody could tell us, as we were being taken on just then.
            self.cancel()
        return self.job

    async def _charge_each_minute(self) -> Job:
        """Charges each minute once it is over: the books, alerts and the owner see it in time, whatever dies."""
        retries = Retries(RETRY_BACKOFF)
        while True:
            try:
                await self._charge_minutes()
                retries.reset()
            except BillingUnreachableError:
                await retries.wait()
                continue
            except StaleJobError:
                # The follower finds out what became of it.
                await asyncio.sleep(RETRY_BACKOFF.first.total_seconds())
                continue
            # What is cancelled is charged at its end, and its minutes are over long before.
            next_end = None if self._is_cancelled else self._reservation.next_minute_end()
            await asyncio.sleep(min(60.0, self._seconds_until(next_end) if next_end else 60.0))

    async def _charge_minutes(self) -> None:
        async with self._turn:
            reservation, hold_id = self._reservation, self.job.hold_id
            minutes = reservation.minutes_due(self._clock.now())
            if not minutes or not hold_id or self._is_cancelled or self.job.state is not JobState.RUNNING:
                return
            cost_micros = await self._billing.settle_part(self.job, hold_id, minutes)
            await self._write(self.job.changed(reservation=reservation.charged(minutes), cost_micros=cost_micros), [])

    async def _keep_lease(self) -> Job:
        retries = Retries(RETRY_BACKOFF)
        while True:
            if await self._is_renewed():
                retries.reset()
                await asyncio.sleep(self._settings.reservation_lease_renewal.total_seconds())
            else:
                await retries.wait()

    async def _keep_told(self) -> Job:
        """Tells the machine again what is stored: it may have taken a change that was not, as its answer was lost."""
        retries = Retries(RETRY_BACKOFF)
        while True:
            await self._untold.wait()
            await retries.wait()
            async with self._turn:
                with suppress(MachineUnreachableError, WrongReservationStateError):
                    self._untold.clear()
                    await self._tell_machines(self._reservation)
                    retries.reset()

    async def _renew(self) -> None:
        # Once there is a session, the lease is as long as it is. Before that it lasts no longer than a job's.
        retries = Retries(RETRY_BACKOFF)
        while not await self._is_renewed() and not (self.job.run_seq or self._is_cancelled or self._stopped):
            await retries.wait()
        if self._is_cancelled and not self.job.run_seq:
            raise AttemptLostError("it was cancelled before there was a session", excused=True)

    async def _is_renewed(self) -> bool:
        """Renews the lease; False if the pool does not do it now. Raises AttemptLostError if the lease is gone."""
        try:
            await self._renew_for(self._reservation)
        except LeaseGoneError as error:
            raise AttemptLostError(f"its lease is gone ({error})") from error
        except PoolError as error:
            log.info("a lease is not renewed", extra={"job_id": self.job.job_id, "reason": str(error)})
            return False
        return True

    async def _renew_for(self, reservation: Reservation) -> None:
        if term := reservation.lease_left(self._started, self._clock.now()):
            await self._pool.renew(self.lease.lease_id, term)

    async def _pass_cancellation_on(self) -> Job:
        """Closes the session, for as long as it takes: it ends by its time at the latest."""
        retries = Retries(RETRY_BACKOFF)
        while True:
            # Repeat even after success: a session that is opened a moment later must end, too.
            with suppress(ExecutorError):
                await self._close_all(CLOSE_GRACE)
            await retries.wait()

    @property
    def _no_show_after(self) -> timedelta:
        """Time without any login after which it is ended; 0 for never."""
        return self._settings.dated_no_show_after if self.job.is_dated else self._settings.no_show_after

    @property
    def _is_used(self) -> bool:
        """True if it is no no-show."""
        return self._reservation.is_used(self.job.user_id)

    @property
    def _no_show_reason(self) -> str:
        minutes = self._no_show_after / timedelta(minutes=1)
        name = "SCHEDULER_DATED_NO_SHOW_AFTER" if self.job.is_dated else "SCHEDULER_NO_SHOW_AFTER"
        return f"For {minutes:g} minutes no user logged in, nor did its owner extend it, so it was ended ({name})."

    async def _warn_of_no_show(self) -> Job:
        """Says once that it is ended soon."""
        async with self._turn:
            reservation = self._reservation
            is_open = self.job.state is JobState.RUNNING and not (self._is_cancelled or self.job.cancel_time)
            is_told = reservation.no_show_warned or self._is_used
            if is_open and reservation.active_time and not is_told:
                warned = self.job.changed(reservation=reservation.warned_of_no_show())
                with suppress(StaleJobError):
                    await self._write(warned, [payloads.no_show(reservation.active_time + self._no_show_after)])
        return await asyncio.Future()

    async def _end_no_show(self) -> Job:
        """Ends a reservation that nobody used."""
        retries = Retries(RETRY_BACKOFF)
        # Somebody may have logged in while we were away, or while the machine was silent.
        while not self._is_used and not await self._has_heard_all():
            await retries.wait()
        if not self._is_used:
            await self.end_early(self._no_show_reason)
        return await asyncio.Future()

    async def _has_heard_all(self) -> bool:
        """True if the machines say that we know all that happened in the sessions."""
        async with self._turn:
            for rank, lease in enumerate(self.leases):
                try:
                    last_seq = await self._executors.update_session(self.job, self._reservation, lease)
                except ExecutorError:
                    return False
                if self._seq(rank) < last_seq:
                    return False
            return True

    async def _exceed_preparing(self) -> Job:
        if self._reservation.active_time is None:
            ready = [self._reservation.ready_time, *(node.ready_time for node in self._reservation.nodes)]
            rank = ready.index(None)
            reason = f"{self._machine(rank)} did not open the session within {LONGEST_PREPARING}"
            raise AttemptLostError(reason, machine_suspect=True, lease=self.leases[rank])
        return await asyncio.Future()

    async def _exceed_time(self) -> Job:
        while True:
            expire_time = self._reservation.expire_time or self._clock.now()
            left = self._seconds_until(expire_time + GRACE + SILENCE_AFTER_END)
            if left <= 0:
                raise AttemptLostError("the machine did not report the end of the session", machine_suspect=True)
            # It may be extended meanwhile.
            await asyncio.sleep(left)

    @property
    def _started(self) -> datetime:
        return self.job.start_time or self._clock.now()

    def _seconds_until(self, when: datetime) -> float:
        return max(0.0, (when - self._clock.now()).total_seconds())


def session_of(runner: JobRunner, job_id: str) -> SessionAttempt:
    """The attempt at a reservation; raises MachineUnreachableError if it holds no machine now."""
    session = runner.session(job_id)
    if isinstance(session, SessionAttempt):
        return session
    raise MachineUnreachableError("The reservation is being taken on, or is ending. Try again in a moment.")


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


def _count(event: SessionEvent) -> None:
    if kind := event.WhichOneof("event"):
        metrics.session_events.labels(kind).inc()
    if event.HasField("step"):
        metrics.reservation_starts.labels(event.step.name).observe(event.step.duration.ToTimedelta().total_seconds())
    if event.HasField("snapshot"):
        taken = event.snapshot
        metrics.snapshots.labels("failed" if taken.fault else "unchanged" if taken.is_unchanged else "taken").inc()
        if not taken.fault:
            metrics.snapshot_seconds.observe(taken.duration.ToTimedelta().total_seconds())
