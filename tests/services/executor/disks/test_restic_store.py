"""The repository of restic: its password, and what killed programs leave of it."""

from __future__ import annotations

import asyncio
import os
import random
import signal
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from services.executor.disks.choice import disk_store, wrong_place
from services.executor.disks.restic_store import ResticStore
from services.executor.disks.snapshot import DiskError, DiskLimits, DiskOwner
from services.vmpool.providers.ssh.key import own_key, public_line
from tests.services.executor.disks.conftest import ALICE, ROOMY, Disk, same_now, settled
from tests.services.vmpool.providers.real_sshd import RealSshd

pytestmark = pytest.mark.restic


def programs() -> list[psutil.Process]:
    """All restics that this test has started, with the sandboxes around them."""
    found: list[psutil.Process] = []
    for one in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if "restic" in " ".join(one.cmdline()):
                found.append(one)
    return found


def restics() -> list[tuple[int, list[str]]]:
    """The restics themselves, with their words."""
    found: list[tuple[int, list[str]]] = []
    for one in programs():
        with suppress(psutil.NoSuchProcess):
            if one.name() == "restic":
                found.append((one.pid, one.cmdline()))
    return found


def seen(pid: int, folder: Path) -> list[str]:
    """What a process sees in a folder."""
    try:
        return [one.name for one in Path(f"/proc/{pid}/root{folder}").iterdir()]
    except OSError:
        return []


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


async def test_what_is_stored_cannot_be_read_without_the_password(disk: Disk, home: Path, place: Path) -> None:
    (home / "name-of-a-file").write_text("a secret text")
    await disk.save(home)
    for path in place.rglob("*"):
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
    await disk.store.remove(ALICE, [after.snapshot_id])
    assert [one.name for one in (await disk.restored(before)).iterdir()] == ["file"]


async def test_a_removal_that_is_killed_keeps_nobody_from_the_snapshots_that_stay(
    disk: Disk, home: Path, place: Path
) -> None:
    taken = [await disk.save(home)]
    for number in range(2):
        (home / "file").write_text(str(number))
        taken.append(await disk.save(home, same_now(taken[-1])))
    removing = asyncio.create_task(disk.store.remove(ALICE, [taken[0].snapshot_id]))
    while not any("forget" in words and seen(pid, place / ALICE.folder_name / "locks") for pid, words in restics()):
        assert not removing.done()
        await asyncio.sleep(0)
    for one in programs():
        with suppress(psutil.NoSuchProcess):
            one.send_signal(signal.SIGKILL)
    with pytest.raises(DiskError, match="status -9"):
        await removing
    (home / "file").write_text("last")
    last = await disk.save(home, same_now(taken[-1]))
    for snapshot, text in ((taken[1], "0"), (taken[2], "1"), (last, "last")):
        assert (await disk.restored(snapshot) / "file").read_text() == text
    await disk.store.remove(ALICE, [one.snapshot_id for one in taken])
    assert (await disk.restored(last) / "file").read_text() == "last"


async def test_who_saves_waits_for_who_removes_on_another_machine(place: Path, home: Path, tmp_path: Path) -> None:
    disk, elsewhere = (Disk(ResticStore(str(place)), tmp_path) for _ in range(2))
    taken = await disk.save(home)
    (home / "file").write_text("new")
    removing = asyncio.create_task(elsewhere.store.remove(ALICE, ["0" * 64, taken.snapshot_id]))
    while not any("forget" in words for _, words in restics()):
        assert not removing.done()
        await asyncio.sleep(0)
    saving, together = asyncio.create_task(disk.save(home)), 0
    while not saving.done():
        running = {word for _, words in restics() for word in words} & {"forget", "cat", "backup"}
        together = max(together, len(running))
        await asyncio.sleep(0)
    await removing
    later = await saving
    assert together == 1
    assert (await elsewhere.restored(later) / "file").read_text() == "new"


async def test_a_home_that_grows_beyond_its_limit_while_it_is_saved_is_given_up(
    disk: Disk, home: Path, place: Path
) -> None:
    (home / "file").write_text("x")
    saving = asyncio.create_task(disk.save(home, limits=DiskLimits(1 << 20, 100)))
    # It has been measured by then, and a repository is made before it is read.
    while not programs():
        assert not saving.done()
        await asyncio.sleep(0)
    (home / "large").write_bytes(bytes(2 << 20))
    with pytest.raises(DiskError, match="grew beyond"):
        await saving
    assert not list(place.glob("*/snapshots/*"))


async def test_hard_links_are_not_taken_for_more_than_the_limit(disk: Disk, home: Path) -> None:
    (home / "one").write_bytes(bytes(700 << 10))
    os.link(home / "one", home / "two")
    assert (await disk.save(home, limits=DiskLimits(1 << 20, 100))).size_bytes == 700 << 10


async def test_what_must_stay_free_is_not_used(place: Path, home: Path, tmp_path: Path) -> None:
    (home / "file").write_text("x")
    roomy, full = (ResticStore(str(place), reserve_bytes=free_bytes) for free_bytes in (0, 1 << 60))
    with pytest.raises(DiskError, match="no room where disks are kept"):
        await Disk(full, tmp_path).save(home)
    await settled(home)
    taken = await Disk(roomy, tmp_path).save(home)
    assert (await Disk(full, tmp_path).save(home, same_now(taken))).is_unchanged


async def test_a_damaged_snapshot_is_not_restored(disk: Disk, home: Path, place: Path) -> None:
    (home / "file").write_text("x" * 5000)
    taken = await disk.save(home)
    for pack in place.glob("*/data/*/*"):
        pack.chmod(0o600)
        pack.write_bytes(bytes(pack.stat().st_size))
    with pytest.raises(DiskError, match="restic restore ended"):
        await disk.restored(taken)


async def test_a_place_keeps_its_id_wherever_it_is_seen(place: Path, tmp_path: Path) -> None:
    first = ResticStore(str(place)).store_id
    assert ResticStore(str(tmp_path / "another")).store_id != first
    place.rename(tmp_path / "elsewhere")
    assert ResticStore(str(tmp_path / "elsewhere")).store_id == first
    # So did those that were made before there was a file for the id.
    (place / "owner").mkdir(parents=True)
    (place / "owner" / "config").touch()
    assert ResticStore(str(place)).store_id == ResticStore(str(place)).store_id != first


async def test_an_owners_repository_is_all_that_restic_sees_of_the_place(disk: Disk, home: Path, place: Path) -> None:
    (place / "of-another").mkdir()
    (home / "file").touch()
    saving, found = asyncio.create_task(disk.save(home)), set[str]()
    while not saving.done():
        found |= {name for pid, _ in restics() for name in seen(pid, place)}
        await asyncio.sleep(0)
    await saving
    assert found == {ALICE.folder_name}


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


@pytest.mark.parametrize(("there", "package"), [((), "restic"), (("restic",), "bubblewrap"), (("restic", "bwrap"), "")])
def test_a_machine_without_the_programs_keeps_no_disks_and_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: tuple[str, ...], package: str
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in there:
        (programs / name).touch(mode=0o755)
    monkeypatch.setenv("PATH", str(programs))
    found = disk_store(f"folder:{tmp_path / 'disks'}", None, 0)
    assert found == f"{(there and 'bwrap') or 'restic'} is not installed: run `apt-get install {package}` on it" or (
        not package and isinstance(found, ResticStore)
    )
    assert disk_store("", None, 0) == "EXECUTOR_DISKS is empty"


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
        # ssh's own words come through restic, which may end before it has passed them on.
        with pytest.raises(DiskError, match=r"Host key verification failed|unable to start the sftp session"):
            await disk.save(home)
    finally:
        server.stop()
