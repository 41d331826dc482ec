"""The disk that is the home of a session."""

from __future__ import annotations

import asyncio

from wavepool.executor.v1.session_pb2 import SessionEvent

from servicekit.logging import get_logger
from services.scheduler.jobs.disk import LentDisk
from services.scheduler.jobs.job import Job
from services.scheduler.peers.executors import ExecutorError
from services.scheduler.reservations.attempt.session import Session
from services.scheduler.reservations.wire.disks import snapshot_from_proto
from services.scheduler.runs.leased_attempt import AttemptLostError
from services.scheduler.store.disk_store import DiskStore

log = get_logger(__name__)


class SessionDisk:
    """Lends a session its disk, and notes its snapshots."""

    def __init__(self, session: Session, disks: DiskStore) -> None:
        self._session = session
        self._disks = disks

    async def lent(self) -> LentDisk | None:
        """What the machine is given of the reservation's disk; a session that is there is known by its disk, too."""
        reserved = self._session.reservation.disk
        if reserved is None:
            return None
        if lent := await self._disks.lend(reserved.disk_id, self._session.job):
            return lent
        raise AttemptLostError(f"its disk {reserved.name!r} is held by another reservation")

    async def keep(self, event: SessionEvent) -> SessionEvent:
        """Notes a snapshot with the disk; gives the event as it is stored, without the long list of files."""
        reserved, taken = self._session.reservation.disk, event.snapshot
        if reserved is None or not event.HasField("snapshot") or taken.fault:
            return event
        await self._disks.add(reserved.disk_id, self._session.job, snapshot_from_proto(taken), taken.content)
        stored = type(event)()
        stored.CopyFrom(event)
        stored.snapshot.ClearField("content")
        return stored

    async def remove_unwanted(self) -> Job:
        """Has the machine, which keeps disks, remove snapshots that no disk has any more."""
        session, store_id = self._session, self._session.reservation.store_id
        while unwanted := await self._disks.unwanted(store_id):
            for one in unwanted:
                try:
                    await session.executors.remove_snapshots(session.job, session.lease, store_id, one)
                except ExecutorError as error:
                    # The next session with a disk there tries again.
                    log.info("snapshots are not removed", extra={"store_id": store_id, "reason": str(error)})
                    return await asyncio.Future()
                await self._disks.removed(one.snapshot_ids)
        return await asyncio.Future()
