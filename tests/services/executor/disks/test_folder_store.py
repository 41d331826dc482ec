"""What snapshots that are folders share, and keep free."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from services.executor.disks import home_copy
from services.executor.disks.disk_store import DiskError
from services.executor.disks.folder_store import FolderStore
from tests.services.executor.disks.conftest import Disk, same_now, settled

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def disk(folder: Path, tmp_path: Path) -> Disk:
    return Disk(FolderStore(folder), tmp_path)


async def test_a_sparse_file_takes_no_more_room_than_before(disk: Disk, home: Path) -> None:
    with (home / "sparse").open("wb") as file:
        file.seek(200 << 20)
        file.write(b"end")
    back = await disk.restored(await disk.save(home))
    assert (back / "sparse").stat().st_size == (200 << 20) + 3
    assert (back / "sparse").stat().st_blocks * 512 < 8 << 20


async def test_what_has_not_changed_takes_no_more_room(disk: Disk, home: Path, folder: Path) -> None:
    (home / "same").write_text("same")
    await settled(home)
    first = await disk.save(home)
    (home / "new").write_text("new")
    second = await disk.save(home, same_now(first))
    one, two = (next(folder.glob(f"*/{taken.snapshot_id}/home/same")) for taken in (first, second))
    assert one.samefile(two)


async def test_a_place_keeps_its_id(folder: Path) -> None:
    assert FolderStore(folder).store_id == FolderStore(folder).store_id
    assert FolderStore(folder).store_id != FolderStore(folder / "another").store_id


async def test_what_must_stay_free_is_not_used(folder: Path, home: Path, tmp_path: Path) -> None:
    (home / "file").write_text("x")
    disk = Disk(FolderStore(folder, reserve_bytes=1 << 60), tmp_path)
    with pytest.raises(DiskError, match="no room for file"):
        await disk.save(home)


async def test_a_damaged_snapshot_is_not_restored(disk: Disk, home: Path, folder: Path) -> None:
    (home / "file").write_text("x")
    taken = await disk.save(home)
    next(folder.glob("*/*/home/file")).unlink()
    with pytest.raises(DiskError, match="damaged"):
        await disk.restored(taken)


@pytest.mark.parametrize("becomes", ["nothing", "a file"])
def test_a_link_that_changes_just_before_it_is_read_is_not_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, becomes: str
) -> None:
    home, copied, readlink = tmp_path / "home", tmp_path / "copied", os.readlink
    for folder in (home, copied):
        folder.mkdir()
    (home / "kept").touch()
    (home / "link").symlink_to("anywhere")

    def late(name: str, *, dir_fd: int) -> str:
        os.unlink(name, dir_fd=dir_fd)
        if becomes == "a file":
            os.close(os.open(name, os.O_CREAT | os.O_WRONLY, dir_fd=dir_fd))
        return readlink(name, dir_fd=dir_fd)

    monkeypatch.setattr(os, "readlink", late)
    source, target = (os.open(folder, os.O_RDONLY | os.O_DIRECTORY) for folder in (home, copied))
    copy = home_copy.Copy(source, target)
    copy.run()
    for descriptor in (source, target):
        os.close(descriptor)

    assert ([path.name for path in copied.iterdir()], copy.files) == (["kept"], 1)
