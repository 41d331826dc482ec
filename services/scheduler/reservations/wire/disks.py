"""Converts disks and their snapshots to protos and back."""

from __future__ import annotations

from datetime import UTC, timedelta

from wavepool.executor.v1 import session_pb2
from wavepool.scheduler.v1 import disks_pb2

from servicekit.rpc.proto_time import duration_to_proto, instant_to_proto
from services.scheduler.jobs.disk import Disk, DiskSnapshot, DiskState, files_of

_STATES = {state: disks_pb2.DiskState.Value(f"DISK_STATE_{state.name}") for state in DiskState}
_REASON = "SNAPSHOT_REASON_"


def snapshot_from_proto(taken: session_pb2.SessionSnapshot) -> DiskSnapshot:
    """A snapshot that a machine has taken."""
    return DiskSnapshot(
        snapshot_id=taken.snapshot_id,
        store_id=taken.store_id,
        time=taken.begin_time.ToDatetime(UTC),
        size_bytes=taken.size_bytes,
        files=taken.files,
        reason=_reason(taken.reason),
        duration=taken.duration.ToTimedelta(),
    )


def disk_to_proto(disk: Disk, kept_after_deletion: timedelta) -> disks_pb2.Disk:
    """A disk; once it is deleted, it is kept for so long."""
    return disks_pb2.Disk(
        disk_id=disk.disk_id,
        user_id=disk.user_id,
        name=disk.name,
        state=_STATES[disk.state],
        size_limit_bytes=disk.size_limit_bytes,
        create_time=instant_to_proto(disk.create_time),
        last_used_time=instant_to_proto(disk.last_used_time),
        safe_time=instant_to_proto(disk.safe_time),
        reservation_id=disk.holder_id,
        delete_time=instant_to_proto(disk.delete_time),
        remove_time=instant_to_proto(disk.delete_time + kept_after_deletion if disk.delete_time else None),
        snapshots=map(snapshot_to_proto, disk.snapshots),
    )


def snapshot_to_proto(snapshot: DiskSnapshot) -> disks_pb2.DiskSnapshot:
    """A snapshot."""
    return disks_pb2.DiskSnapshot(
        snapshot_id=snapshot.snapshot_id,
        time=instant_to_proto(snapshot.time),
        size_bytes=snapshot.size_bytes,
        files=snapshot.files,
        reason=snapshot.reason,
        duration=duration_to_proto(snapshot.duration),
    )


def content_to_proto(disk: Disk, content: bytes) -> disks_pb2.GetDiskContentResponse:
    """What is on a disk."""
    files, is_cut = files_of(content)
    return disks_pb2.GetDiskContentResponse(
        snapshot=snapshot_to_proto(disk.snapshots[-1]) if disk.snapshots else None,
        files=[
            disks_pb2.DiskFile(path=one.path, size_bytes=one.size_bytes, time=instant_to_proto(one.time))
            for one in files
        ],
        is_cut=is_cut,
    )


def _reason(number: int) -> str:
    """Why it was taken; newer executors may have reasons that we do not know."""
    known = session_pb2.SnapshotReason.DESCRIPTOR.values_by_number.get(number)
    return known.name.removeprefix(_REASON).lower() if known else f"reason {number}"
