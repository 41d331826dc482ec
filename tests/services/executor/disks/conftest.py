"""Stores of disks, and homes to keep in them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from services.executor.disks.disk_store import Base, DiskLimits, DiskOwner, Snapshot
from services.executor.disks.folder_store import FolderStore

if TYPE_CHECKING:
    from pathlib import Path

    from services.executor.disks.disk_store import DiskStore

ALICE = DiskOwner("usr_alice", "alice's password")
BOB = DiskOwner("usr_bob", "bob's password")
ROOMY = DiskLimits(1 << 30, 10_000)


@pytest.fixture(params=["folder"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> DiskStore:
    assert request.param == "folder"
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
    """The base of a home that was just saved; files that are older than the kernel's clock is coarse count as old."""
    return Base(snapshot.snapshot_id, time.time_ns() + 10**9)
