"""The repository of restic: its password, and what killed programs leave of it."""

from __future__ import annotations

import asyncio
import random
import signal
from contextlib import suppress
from typing import TYPE_CHECKING

import psutil
import pytest

from services.executor.disks.choice import wrong_place
from services.executor.disks.disk_store import DiskError, DiskOwner
from services.executor.disks.restic_store import ResticStore
from services.vmpool.providers.ssh.key import own_key, public_line
from tests.services.executor.disks.conftest import ALICE, ROOMY, Disk, same_now
from tests.services.vmpool.providers.real_sshd import RealSshd

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.restic


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    return Disk(ResticStore(str(tmp_path / "store")), tmp_path)


def programs() -> list[psutil.Process]:
    """All restics that this test has started, with the sandboxes around them."""
    found: list[psutil.Process] = []
    for one in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if "restic" in " ".join(one.cmdline()):
                found.append(one)
    return found


async def test_the_password_is_on_no_command_line_and_in_no_environment(disk: Disk, home: Path) -> None:
    (home / "file").write_bytes(random.Random(1).randbytes(4 << 20))  # noqa: S311 - content
    saving, seen = asyncio.create_task(disk.save(home)), 0
    while not saving.done():
        for one in programs():
            with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                assert ALICE.password not in f"{one.cmdline()} {one.environ()}"
                seen += 1
        await asyncio.sleep(0)
    await saving
    assert seen
    assert ALICE.password not in repr(ALICE)


async def test_another_password_opens_nothing(disk: Disk, home: Path) -> None:
    (home / "file").write_text("x")
    taken = await disk.save(home)
    with pytest.raises(DiskError, match="wrong password"):
        await disk.restored(taken, DiskOwner(ALICE.owner_id, "guessed"))


async def test_what_is_stored_cannot_be_read_without_the_password(disk: Disk, home: Path, tmp_path: Path) -> None:
    (home / "name-of-a-file").write_text("a secret text")
    await disk.save(home)
    for path in (tmp_path / "store").rglob("*"):
        assert "name-of-a-file" not in path.name
        assert not path.is_file() or b"a secret text" not in path.read_bytes()


@pytest.mark.timeout(400)
async def test_a_backup_that_is_killed_leaves_the_snapshots_before_and_the_next_one_works(
    disk: Disk, home: Path
) -> None:
    chance = random.Random(5)  # noqa: S311 - it chooses moments
    (home / "file").write_text("first")
    before = await disk.save(home)
    base, kills = same_now(before), 0
    for number in range(6):
        (home / "large").write_bytes(chance.randbytes(8 << 20))
        saving = asyncio.create_task(disk.save(home, base))
        spent = chance.uniform(0, 0.6)
        while not saving.done() and not any(_spent(one) >= spent for one in programs()):
            await asyncio.sleep(0)
        for one in programs():
            with suppress(psutil.NoSuchProcess):
                one.send_signal(signal.SIGKILL)
        try:
            await saving
        except DiskError:
            kills += 1
        assert [one.name for one in (await disk.restored(before)).iterdir()] == ["file"], number
    assert kills
    after = await disk.save(home, base)
    assert sorted(one.name for one in (await disk.restored(after)).iterdir()) == ["file", "large"]
    try:
        await disk.store.remove(ALICE, [after.snapshot_id])
    except DiskError as error:
        # A restic that was killed while it had a lock keeps others from removing for half an hour.
        assert "already locked" in str(error)  # noqa: PT017 - it may also go well
    assert [one.name for one in (await disk.restored(before)).iterdir()] == ["file"]


def _spent(one: psutil.Process) -> float:
    try:
        return sum(one.cpu_times()[:2])
    except psutil.NoSuchProcess:
        return 0.0


async def test_a_save_that_is_given_up_ends_its_programs(disk: Disk, home: Path) -> None:
    saving = asyncio.create_task(disk.store.save(ALICE, home, ROOMY, None))
    while not programs():
        assert not saving.done()
        await asyncio.sleep(0)
    saving.cancel()
    await asyncio.gather(saving, return_exceptions=True)
    while programs():
        await asyncio.sleep(0)


@pytest.mark.parametrize(
    "setting", ["folder", "folder:", "folder:relative", "restic:", "restic:relative", "/srv/disks"]
)
def test_a_wrong_place_is_refused_with_the_form(setting: str) -> None:
    assert wrong_place(setting, None).startswith(f"is {setting!r}; ")


@pytest.mark.parametrize("setting", ["", "folder:/srv", "restic:/srv", "restic:s3:https://host/bucket"])
def test_a_right_place_is_taken(setting: str) -> None:
    assert not wrong_place(setting, None)


def test_a_place_behind_ssh_needs_the_folder_with_its_keys(tmp_path: Path) -> None:
    assert "EXECUTOR_DISKS_SSH" in wrong_place("restic:sftp:disks@host:/srv", None)
    assert not wrong_place("restic:sftp:disks@host:/srv", tmp_path)
    (tmp_path / "id").touch()
    with pytest.raises(DiskError, match=f"EXECUTOR_DISKS_SSH: {tmp_path}/known_hosts is missing"):
        ResticStore("sftp:disks@host:/srv", tmp_path)


@pytest.mark.sshd
async def test_a_disk_behind_ssh_comes_back_and_another_host_key_gets_nothing(tmp_path: Path, home: Path) -> None:
    keys = tmp_path / "keys"
    keys.mkdir()
    key = own_key(keys)
    (keys / "id").write_bytes(key.export_private_key())
    (keys / "id").chmod(0o600)
    server = RealSshd(tmp_path / "sshd", public_line(key))
    await server.start()
    try:
        address = f"[127.0.0.1]:{server.port}"
        (keys / "known_hosts").write_text(f"{address} {(tmp_path / 'sshd/host_key.pub').read_text()}")
        place = f"sftp://{server.username}@127.0.0.1:{server.port}/{tmp_path}/repositories"
        disk = Disk(ResticStore(place, keys), tmp_path)
        (home / "train.py").write_text("print(1)\n")
        back = await disk.restored(await disk.save(home))
        assert (back / "train.py").read_text() == "print(1)\n"
        server.stop()
        server.new_host_key()
        await server.start()
        (home / "train.py").write_text("print(2)\n")
        with pytest.raises(DiskError, match="Host key verification failed"):
            await disk.save(home)
    finally:
        server.stop()
