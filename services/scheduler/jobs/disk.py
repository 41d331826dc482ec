"""A disk: a home that outlives reservations, as a series of snapshots; pure."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from services.scheduler.jobs.reservation_states import ReservationState

NO_DISK = "none"
"""What people say for a home that is removed at the end; no disk has this name."""

MOST_FILES = 10_000
"""Files that are listed of a disk."""
MOST_CONTENT_BYTES = 2 << 20
_MORE = "…"
"""Ends a list that its machine has cut."""


class DiskState(StrEnum):
    """What becomes of a disk now: it follows from the reservation that holds it."""

    AVAILABLE = "available"
    WAITING = "waiting"
    RESTORING = "restoring"
    IN_USE = "in_use"
    SNAPSHOTTING = "snapshotting"
    DELETED = "deleted"


@dataclass(frozen=True)
class DiskSnapshot:
    """A snapshot that is whole, in the place `store_id`; it has everything that was written before `time`."""

    snapshot_id: str
    store_id: str
    time: datetime
    size_bytes: int
    files: int
    reason: str
    duration: timedelta


@dataclass(frozen=True)
class Disk:
    """A disk. `snapshots` has the oldest first.

    `holder_id` and `holder_state` are of the reservation that holds it: it is not over. `safe_time` is later than the
    last snapshot if nothing had changed since.
    """

    disk_id: str
    user_id: str
    name: str
    size_limit_bytes: int
    create_time: datetime
    last_used_time: datetime | None = None
    safe_time: datetime | None = None
    delete_time: datetime | None = None
    holder_id: str = ""
    holder_state: ReservationState | None = None
    snapshots: tuple[DiskSnapshot, ...] = ()

    @property
    def state(self) -> DiskState:
        """What becomes of it now."""
        if self.delete_time:
            return DiskState.DELETED
        if self.holder_state is None:
            return DiskState.AVAILABLE
        return _STATES.get(self.holder_state, DiskState.AVAILABLE)


@dataclass(frozen=True)
class LentDisk:
    """What a machine is given of a disk, to begin a session with; the ids are empty for an empty home."""

    disk_id: str
    name: str
    owner_id: str
    password: str
    size_limit_bytes: int
    snapshot_id: str = ""
    store_id: str = ""
    snapshot_bytes: int = 0


@dataclass(frozen=True)
class UnwantedSnapshots:
    """Snapshots of one owner that no disk has any more."""

    owner_id: str
    password: str
    snapshot_ids: tuple[str, ...]


@dataclass(frozen=True)
class DiskFile:
    """A file or folder of a disk; the path of a folder ends with `/`."""

    path: str
    size_bytes: int
    time: datetime


_STATES = {
    ReservationState.PENDING: DiskState.WAITING,
    ReservationState.QUEUED: DiskState.WAITING,
    ReservationState.PREPARING: DiskState.RESTORING,
    ReservationState.ACTIVE: DiskState.IN_USE,
    ReservationState.EXPIRING: DiskState.SNAPSHOTTING,
}


def surplus(snapshots: tuple[DiskSnapshot, ...], most: int) -> tuple[DiskSnapshot, ...]:
    """The oldest snapshots, which are too many; the last one never is."""
    return snapshots[: -max(1, most)]


def files_of(content: bytes) -> tuple[list[DiskFile], bool]:
    """The files of a list that a machine sent, and whether it is cut; what cannot be read of it is left out."""
    try:
        text = zlib.decompressobj().decompress(content, MOST_CONTENT_BYTES).decode(errors="replace")
    except zlib.error:
        return [], bool(content)
    lines = text.splitlines()
    files: list[DiskFile] = []
    for line in lines[:MOST_FILES]:
        try:
            path, size_bytes, seconds = json.loads(line)
            files.append(DiskFile(str(path), int(size_bytes), datetime.fromtimestamp(int(seconds), UTC)))
        except (ValueError, TypeError, OverflowError, OSError):
            return files, True
    is_cut = len(lines) > MOST_FILES or len(text) >= MOST_CONTENT_BYTES
    if files and files[-1].path == _MORE:
        return files[:-1], True
    return files, is_cut
