"""The RPCs about disks: decode, ask, encode."""

from __future__ import annotations

from datetime import timedelta

from wavepool.scheduler.v1 import disks_pb2, disks_pb2_grpc

from servicekit.clock import Clock, new_id
from services.scheduler.jobs.disk import NO_DISK, Disk, DiskState
from services.scheduler.jobs.errors import InvalidRequestError, WrongReservationStateError
from services.scheduler.jobs.reservation_checks import wrong_name
from services.scheduler.reservations.attempt.session_attempt import session_of
from services.scheduler.reservations.wire.disks import (
    content_to_proto,
    disk_to_proto,
    snapshot_from_proto,
    snapshot_to_proto,
)
from services.scheduler.runs.job_runner import JobRunner
from services.scheduler.store.disk_store import DiskStore
from submissions.checks import Violations

MOST_USER_ID = 200
"""Characters."""
_GIB = 1 << 30


class DiskServicer(disks_pb2_grpc.DiskServiceServicer):
    """The servicer. A disk has `size_bytes` at most, and is kept for `kept_after_deletion` once it is deleted."""

    def __init__(
        self,
        store: DiskStore,
        runner: JobRunner,
        clock: Clock,
        size_bytes: int,
        kept_after_deletion: timedelta,
    ) -> None:
        self._store = store
        self._runner = runner
        self._clock = clock
        self._size_bytes = size_bytes
        self._kept_after_deletion = kept_after_deletion

    async def CreateDisk(self, request: disks_pb2.CreateDiskRequest, context: object) -> disks_pb2.CreateDiskResponse:
        """Makes an empty disk."""
        wrong: Violations = _wrong_user(request.user_id)
        wrong += wrong_disk_name(request.name)
        if not 0 <= request.size_limit_bytes <= self._size_bytes:
            most = f"{self._size_bytes / _GIB:g} GiB (SCHEDULER_DISK_SIZE)"
            size = f"{request.size_limit_bytes / _GIB:.6g} GiB"
            wrong.append(("size_limit_bytes", f"is {size}; give at most {most}, or 0 for that"))
        _check(wrong)
        size_bytes = request.size_limit_bytes or self._size_bytes
        disk = Disk(new_id("dsk"), request.user_id, request.name, size_bytes, self._clock.now())
        return disks_pb2.CreateDiskResponse(disk=self._proto(await self._store.create(disk)))

    async def ListDisks(self, request: disks_pb2.ListDisksRequest, context: object) -> disks_pb2.ListDisksResponse:
        """Lists disks."""
        _check(_wrong_user(request.user_id or "all"))
        found = await self._store.list(request.user_id, with_deleted=request.with_deleted)
        return disks_pb2.ListDisksResponse(disks=[self._proto(disk) for disk in found])

    async def DeleteDisk(self, request: disks_pb2.DeleteDiskRequest, context: object) -> disks_pb2.DeleteDiskResponse:
        """Deletes a disk."""
        _check(_wrong_user(request.user_id))
        disk = await self._store.delete(request.user_id, request.name, self._clock.now())
        return disks_pb2.DeleteDiskResponse(disk=self._proto(disk))

    async def RenameDisk(self, request: disks_pb2.RenameDiskRequest, context: object) -> disks_pb2.RenameDiskResponse:
        """Gives a disk another name."""
        _check(_wrong_user(request.user_id) + wrong_disk_name(request.new_name, "new_name"))
        disk = await self._store.rename(request.user_id, request.name, request.new_name)
        return disks_pb2.RenameDiskResponse(disk=self._proto(disk))

    async def CloneDisk(self, request: disks_pb2.CloneDiskRequest, context: object) -> disks_pb2.CloneDiskResponse:
        """Makes a disk with the last snapshot of another one."""
        _check(_wrong_user(request.user_id) + wrong_disk_name(request.new_name, "new_name"))
        clone_id, now = new_id("dsk"), self._clock.now()
        disk = await self._store.clone(request.user_id, request.name, clone_id, request.new_name, now)
        return disks_pb2.CloneDiskResponse(disk=self._proto(disk))

    async def GetDiskContent(
        self, request: disks_pb2.GetDiskContentRequest, context: object
    ) -> disks_pb2.GetDiskContentResponse:
        """Lists the files of a disk's last snapshot."""
        _check(_wrong_user(request.user_id))
        return content_to_proto(*await self._store.content(request.user_id, request.name))

    async def SnapshotDisk(
        self, request: disks_pb2.SnapshotDiskRequest, context: object
    ) -> disks_pb2.SnapshotDiskResponse:
        """Takes a snapshot of a disk that is in use."""
        _check(_wrong_user(request.user_id))
        disk = await self._store.named(request.user_id, request.name)
        if disk.state is not DiskState.IN_USE:
            state = disk.state.replace("_", " ")
            raise WrongReservationStateError(
                f"The disk {disk.name!r} is {state}: a snapshot is taken only while an active reservation has it."
            )
        taken = await session_of(self._runner, disk.holder_id).snapshot()
        if taken.fault:
            raise WrongReservationStateError(
                f"The disk {disk.name!r} could not be saved: {taken.fault}. The previous snapshot is still "
                f"the last one."
            )
        return disks_pb2.SnapshotDiskResponse(
            snapshot=snapshot_to_proto(snapshot_from_proto(taken)),
            is_unchanged=taken.is_unchanged,
            skipped=taken.skipped,
        )

    def _proto(self, disk: Disk) -> disks_pb2.Disk:
        return disk_to_proto(disk, self._kept_after_deletion)


def wrong_disk_name(name: str, field: str = "name") -> Violations:
    """What is wrong with the name of a new disk."""
    if name == NO_DISK:
        return [(field, f"is {NO_DISK!r}, which stands for a home without a disk; choose another name")]
    return [(field, fault)] if (fault := wrong_name(name)) else []


def _wrong_user(user_id: str) -> Violations:
    if 0 < len(user_id) <= MOST_USER_ID and "\0" not in user_id:
        return []
    return [("user_id", f"must have 1 to {MOST_USER_ID} characters, without NUL characters")]


def _check(wrong: Violations) -> None:
    if wrong:
        raise InvalidRequestError(wrong)
