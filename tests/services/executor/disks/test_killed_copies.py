"""Whoever is killed while a home is saved or restored, a snapshot is whole or is not there."""

from __future__ import annotations

import asyncio
import random
import signal
from contextlib import suppress
from typing import TYPE_CHECKING

import psutil
import pytest

from services.executor.disks import home_copy
from services.executor.disks.disk_store import DiskError
from services.executor.disks.folder_store import FolderStore
from tests.services.executor.disks.conftest import ALICE, ROOMY, Disk, same_now

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FILES = 400
ROUNDS = [pytest.param(12), pytest.param(300, marks=[pytest.mark.soak, pytest.mark.timeout(1800)])]


def copying() -> list[psutil.Process]:
    """The copying programs that this test has started."""
    return [one for one in psutil.Process().children() if home_copy.__name__ in " ".join(one.cmdline())]


def entries(folder: Path, pattern: str) -> int:
    """How many files the first folder of this pattern has; 0 if there is none."""
    for found in folder.glob(pattern):
        with suppress(FileNotFoundError):
            return sum(1 for _ in found.iterdir())
    return 0


async def killed_after(work: asyncio.Task[object], is_due: Callable[[], bool]) -> bool:
    """Kills the copying program once that is due; returns False if it was done before."""
    while not work.done() and not (copying() and is_due()):
        await asyncio.sleep(0)
    for one in copying():
        with suppress(psutil.NoSuchProcess):
            one.send_signal(signal.SIGKILL)
    try:
        await work
    except DiskError:
        return True
    return False


@pytest.mark.parametrize("rounds", ROUNDS)
async def test_a_snapshot_is_whole_or_absent_whenever_its_taking_is_killed(
    tmp_path: Path, home: Path, rounds: int
) -> None:
    chance = random.Random(rounds)  # noqa: S311 - it chooses moments
    store = FolderStore(store_folder := tmp_path / "store")
    disk = Disk(store, tmp_path)
    for number in range(FILES):
        (home / str(number)).write_text("first")
    before = await disk.save(home)
    base, kills = same_now(before), 0
    for number in range(rounds):
        (home / "changed").write_text(str(number))
        after = chance.randrange(FILES + 2)
        saving = asyncio.create_task(disk.save(home, base))
        kills += await killed_after(saving, lambda after=after: entries(store_folder, "*/*.partial/home") >= after)
        kept = [one for one in store_folder.glob("*/*") if not one.name.endswith(home_copy.PARTIAL)]
        for one in kept:
            assert len(list((await disk.restored(one.name)).iterdir())) in {FILES, FILES + 1}
        await store.remove(ALICE, [one.name for one in kept if one.name != before.snapshot_id])
    assert kills
    assert len(list((await disk.restored(before)).iterdir())) == FILES
    after = await disk.save(home, base)
    assert len(list((await disk.restored(after)).iterdir())) == FILES + 1
    assert not list((tmp_path / "store").glob(f"*/*{home_copy.PARTIAL}"))


async def test_a_restore_that_is_killed_leaves_the_snapshot_as_it_was(tmp_path: Path, home: Path) -> None:
    chance = random.Random(7)  # noqa: S311 - it chooses moments
    disk = Disk(FolderStore(tmp_path / "store"), tmp_path)
    for number in range(FILES):
        (home / str(number)).write_text("first")
    taken = await disk.save(home)
    kills = 0
    for number in range(5):
        after = chance.randrange(FILES)
        restoring = asyncio.create_task(disk.restored(taken))
        target = f"restored-{number + 1}"
        kills += await killed_after(restoring, lambda after=after, where=target: entries(tmp_path, where) >= after)
    assert kills
    assert len(list((await disk.restored(taken)).iterdir())) == FILES


async def test_a_save_that_is_given_up_ends_its_program(tmp_path: Path, home: Path) -> None:
    store = FolderStore(tmp_path / "store")
    (home / "file").write_text("x")
    saving = asyncio.create_task(store.save(ALICE, home, ROOMY, None))
    while not copying():
        await asyncio.sleep(0)
    saving.cancel()
    await asyncio.gather(saving, return_exceptions=True)
    assert not copying()
