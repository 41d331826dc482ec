"""Follows the sessions on the machines of a reservation, and notes what happens there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing, suppress
from datetime import UTC

from wavepool.executor.v1.session_pb2 import SessionEvent, SessionReady

from servicekit.logging import get_logger
from services.scheduler import metrics
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.outcome import Ending
from services.scheduler.jobs.states import JobState
from services.scheduler.peers.executors import (
    MachineUnfitError,
    RunInterruptedError,
    RunRefusedError,
    RunUnknownError,
)
from services.scheduler.queue.batching import batches
from services.scheduler.reservations.attempt.disk import SessionDisk
from services.scheduler.reservations.attempt.ending import SessionEnd
from services.scheduler.reservations.attempt.session import BACKOFF, Session
from services.scheduler.runs.leased_attempt import AttemptLostError, check_contiguous
from services.scheduler.store.build_store import BuildStore
from services.scheduler.wire import payloads
from vocabulary.backoff import Retries
from vocabulary.verdicts import INFRA_ERROR

log = get_logger(__name__)

_NO_IMAGES, _NO_CONTEXT, _NO_ENTRYPOINT = (
    Ending(JobState.FAILED, INFRA_ERROR, f"{why} Nothing is charged.")
    for why in (
        "Its machine has an earlier version of Wavepool, which does not support images.",
        "The folder that its image is built from is no longer stored. Reserve again.",
        "Its machine has an earlier version of Wavepool, which cannot start the command of an image.",
    )
)


class Following:
    """Opens the sessions, or attaches to them; `on_active` is called once people can log in."""

    def __init__(
        self,
        session: Session,
        disk: SessionDisk,
        builds: BuildStore,
        end: SessionEnd,
        on_active: Callable[[], Awaitable[None]],
    ) -> None:
        self._session = session
        self._disk = disk
        self._builds = builds
        self._end = end
        self._on_active = on_active

    async def follow(self, rank: int) -> Job:
        """Follows the session on one of the machines. That of rank 0 says how all end."""
        session, retries = self._session, Retries(BACKOFF)
        machine, lease = session.machine(rank), session.leases[rank]
        while True:
            seen = session.seq(rank)
            try:
                return await self._stream(rank)
            except RunInterruptedError as error:
                if session.seq(rank) > seen:
                    retries.reset()
                log.info("a session cannot be followed", extra={"job_id": session.job.job_id, "reason": str(error)})
            except MachineUnfitError as error:
                reason = f"{machine} took no session: {error}"
                raise AttemptLostError(reason, unfit_reason=str(error), lease=lease) from error
            except RunUnknownError as error:
                raise AttemptLostError(f"its session is gone from {machine}") from error
            except RunRefusedError as error:
                raise AttemptLostError(f"{machine} refused the session ({error})") from error
            await retries.wait()

    async def _stream(self, rank: int) -> Job:
        session, lease = self._session, self._session.leases[rank]
        end_time = session.reservation.end_if_opened(session.clock.now())
        if session.seq(rank) and session.reservation.active_time:
            # What somebody changed when we could not reach the machine, or had written before we were killed.
            with suppress(RunRefusedError, RunUnknownError):
                async with session.turn:
                    await session.executors.update_session(session.job, session.reservation, lease)
        disk = None if rank else await self._disk.lent()
        content = await self._build_context(rank)
        stream = session.executors.open_session(session.job, session.reservation, lease, end_time, disk, rank, content)
        async with aclosing(batches(stream)) as arriving:
            async for batch in arriving:
                events = [event for event in batch if event.seq > session.seq(rank)]
                check_contiguous(session.seq(rank), events)
                ended = events[-1] if events and events[-1].WhichOneof("event") == "ended" else None
                await self._note(events[:-1] if ended else events, rank)
                if ended:
                    return await self._end.finish(ended.ended, ended.time.ToDatetime(UTC), rank)
        raise RunInterruptedError("the stream ended before the session did")

    async def _build_context(self, rank: int) -> bytes:
        """What the machine builds the image from; nothing once there is a session, or if it builds none."""
        digest = self._session.reservation.build_digest
        if not digest or self._session.seq(rank):
            return b""
        if content := await self._builds.content(self._session.job.account_id, digest):
            return content
        raise AttemptLostError("what its image is built from is gone", final=_NO_CONTEXT)

    async def _note(self, events: Sequence[SessionEvent], rank: int) -> None:
        """Stores events of a machine's session, and begins what is due once people can log in."""
        if not events:
            return
        session = self._session
        async with session.turn:
            before = reservation = session.reservation
            written: list[bytes] = []
            for event in events:
                _count(event)
                had_begun = reservation.active_time is not None
                reservation = reservation.after(event, rank)
                # All machines warn at the same time.
                if not rank or not event.HasField("warning"):
                    written.append(payloads.session(event if rank else await self._disk.keep(event), rank))
                if event.HasField("ready"):
                    self._check_image(event.ready)
                if reservation.active_time and not had_begun:
                    written.append(payloads.active(reservation))
            seq = session.job.run_seq if rank else events[-1].seq
            job = session.job.progress(seq, session.job.cost_micros).changed(reservation=reservation)
            await session.write(job, written)
        if reservation.active_time and not before.active_time:
            await self._on_active()

    def _check_image(self, ready: SessionReady) -> None:
        """Raises AttemptLostError if the session is not what was asked for, or not what the other machines have.

        Older executors know no images.
        """
        reservation = self._session.reservation
        if reservation.has_image and not ready.image_digest:
            raise AttemptLostError("its machine knows nothing of images", final=_NO_IMAGES)
        if reservation.preserve_entrypoint and not ready.runs_command:
            raise AttemptLostError("its machine starts no command of an image", final=_NO_ENTRYPOINT)
        known = reservation.image_digest
        if known and ready.image_digest != known:
            reason = (
                f"its machines found two images by one tag, {known} and {ready.image_digest}; all get the first one"
            )
            raise AttemptLostError(reason, excused=True)


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
