"""Where the homes of a machine's sessions are: folders that it keeps, and disks, which are saved as snapshots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from servicekit.clock import Clock
from services.executor.disks.restic_store import ResticStore
from services.executor.disks.snapshot import DiskOwner
from services.executor.sessions.errors import NoDisksError
from services.executor.sessions.homes.kept_home import DiskSpec, KeptHome, SnapshotRules


@dataclass(frozen=True)
class Disks:
    """Where disks are kept, and when they are saved; homes that are in use have their folders in `work_dir`."""

    store: ResticStore
    rules: SnapshotRules
    work_dir: Path


@dataclass(frozen=True)
class Homes:
    """The machine's homes: `folder` has those that it keeps by name; `disks` is where disks are, or why it has none."""

    folder: Path
    disks: Disks | str

    def of_disk(self, disk: DiskSpec, clock: Clock) -> KeptHome:
        """Make the folder of a disk, for a session; raises NoDisksError, OSError."""
        disks = self._disks_of(disk.name, disk.store_id)
        return KeptHome(spec=disk, store=disks.store, rules=disks.rules, work_dir=disks.work_dir, clock=clock)

    async def remove_snapshots(self, store_id: str, owner: DiskOwner, snapshot_ids: Sequence[str]) -> None:
        """Remove snapshots that no disk has any more; raises NoDisksError, DiskError."""
        await self._disks_of("", store_id).store.remove(owner, snapshot_ids)

    def _disks_of(self, name: str, store_id: str) -> Disks:
        """Return where disks are kept, if that is the place that has this one's snapshots; raises NoDisksError."""
        if isinstance(self.disks, str):
            raise NoDisksError(name, store_id, f"keeps no disks ({self.disks})")
        if store_id not in {"", self.disks.store.store_id}:
            raise NoDisksError(name, store_id, f"has the disks of {self.disks.store.store_id}")
        return self.disks
