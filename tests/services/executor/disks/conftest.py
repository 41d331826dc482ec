"""Stores of disks, and homes to keep in them."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import pytest

from services.executor.disks.disk_store import Base, DiskLimits, DiskOwner, Snapshot
from services.executor.disks.folder_store import FolderStore
from services.executor.disks.restic_store import ResticStore

if TYPE_CHECKING:
    from pathlib import Path

    from services.executor.disks.disk_store import DiskStore

ALICE = DiskOwner("usr_alice", "alice's password")
BOB = DiskOwner("usr_bob", "bob's password")
ROOMY = DiskLimits(1 << 30, 10_000)


@pytest.fixture(params=["folder", pytest.param("restic", marks=pytest.mark.restic)])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> DiskStore:
    """A new place of each kind."""
    if request.param == "restic":
        return ResticStore(str(tmp_path / "store"))
    return FolderStore(tmp_path / "store")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    return folder


class Disk:
    """A store as one owner sees it."""

    def __init__(self, store: DiskStore, folder: Path) -> None:
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
        await self.store.restore(owner, snapshot_id, target, lambda _: None)
        return target


@pytest.fixture
def disk(store: DiskStore, tmp_path: Path) -> Disk:
    return Disk(store, tmp_path)


def same_now(snapshot: Snapshot) -> Base:
    """The base of a home that was just saved."""
    return Base(snapshot.snapshot_id, time.time_ns())


async def settled(home: Path) -> None:
    """Waits until the kernel's clock, which is coarse, is past all changes of a home."""
    newest = max(path.lstat().st_ctime_ns for path in (home, *home.rglob("*")))
    while time.time_ns() < newest + 20_000_000:
        await asyncio.sleep(0)
