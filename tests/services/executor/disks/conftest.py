"""Stores of disks, and homes to keep in them."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from services.executor.disks.restic_store import ResticStore
from services.executor.disks.snapshot import Base, DiskLimits, DiskOwner, Snapshot

ALICE = DiskOwner("usr_alice", "alice's password")
BOB = DiskOwner("usr_bob", "bob's password")
ROOMY = DiskLimits(1 << 30, 10_000)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder where disks are kept."""
    return tmp_path / "store"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    return folder


class Disk:
    """A store as one owner sees it."""

    def __init__(self, store: ResticStore, folder: Path) -> None:
        self.store = store
        self._folder = folder
        self._count = 0

    async def save(
        self, home: Path, base: Base | None = None, limits: DiskLimits = ROOMY, owner: DiskOwner = ALICE
    ) -> Snapshot:
        return await self.store.save(owner, home, limits, base)

    async def restored(self, snapshot: Snapshot | str, owner: DiskOwner = ALICE) -> Path:
        """A new home with the snapshot."""
        self._count += 1
        target = self._folder / f"restored-{self._count}"
        target.mkdir(mode=0o700)
        snapshot_id = snapshot if isinstance(snapshot, str) else snapshot.snapshot_id
        await self.store.restore(owner, snapshot_id, target)
        return target


@pytest.fixture
def disk(place: Path, tmp_path: Path) -> Disk:
    return Disk(ResticStore(str(place)), tmp_path)


def same_now(snapshot: Snapshot) -> Base:
    """The base of a home that was just saved."""
    return Base(snapshot.snapshot_id, time.time_ns(), snapshot.top)


async def settled(home: Path) -> None:
    """Waits until the kernel's clock, which is coarse, is past all changes of a home."""
    newest = max(path.lstat().st_ctime_ns for path in (home, *home.rglob("*")))
    while time.time_ns() < newest + 20_000_000:
        await asyncio.sleep(0)
