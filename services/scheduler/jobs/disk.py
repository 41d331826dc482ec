"""A disk: a home that outlives reservations, as a series of snapshots; pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from services.scheduler.jobs.reservation import ReservationState

if TYPE_CHECKING:
    from datetime import datetime, timedelta

NO_DISK = "none"
"""What people say for a home that is removed at the end; no disk has this name."""


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


_STATES = {
    ReservationState.QUEUED: DiskState.WAITING,
    ReservationState.PREPARING: DiskState.RESTORING,
    ReservationState.ACTIVE: DiskState.IN_USE,
    ReservationState.EXPIRING: DiskState.SNAPSHOTTING,
}


def surplus(snapshots: tuple[DiskSnapshot, ...], most: int) -> tuple[DiskSnapshot, ...]:
    """The oldest snapshots, which are too many; the last one never is."""
    return snapshots[: -max(1, most)]
