"""What a store of disks keeps to, whatever is in a home."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import socket
import stat
import zlib
from pathlib import Path

import pytest

from services.executor.disks.snapshot import DiskError, DiskLimits
from services.executor.sandboxes.limits.file_tree import remove_tree
from tests.services.executor.disks.conftest import ALICE, BOB, ROOMY, Disk, same_now, settled

pytestmark = pytest.mark.restic

OLD_SECONDS = 1_600_000_000


def content_of(content: bytes) -> dict[str, int]:
    """The paths of a list of files, with their sizes."""
    return {line[0]: line[1] for line in map(json.loads, zlib.decompress(content).splitlines())}


async def test_a_home_comes_back_as_it_was(disk: Disk, home: Path) -> None:
    (home / "src").mkdir(mode=0o750)
    (home / "src" / "train.py").write_text("print(1)\n")
    (home / "src" / "train.py").chmod(0o755)
    os.utime(home / "src" / "train.py", (OLD_SECONDS, OLD_SECONDS))
    (home / "latest").symlink_to("src/train.py")
    (home / "empty").mkdir()
    os.utime(home / "src", (OLD_SECONDS, OLD_SECONDS))
    snapshot = await disk.save(home)
    assert (snapshot.size_bytes, snapshot.skipped, snapshot.is_unchanged) == (9, 0, False)
    back = await disk.restored(snapshot)
    program = back / "src" / "train.py"
    assert program.read_text() == "print(1)\n"
    assert stat.S_IMODE(program.stat().st_mode) == 0o755
    assert stat.S_IMODE((back / "src").stat().st_mode) == 0o750
    assert program.stat().st_mtime == (back / "src").stat().st_mtime == OLD_SECONDS
    assert (back / "latest").readlink().as_posix() == "src/train.py"
    assert sorted(one.name for one in back.iterdir()) == ["empty", "latest", "src"]


async def test_an_empty_home_comes_back_empty(disk: Disk, home: Path) -> None:
    empty = await disk.save(home)
    (home / "WARN_EXPIRES_IN_5MIN.txt").touch()
    assert (empty.size_bytes, empty.files, content_of(empty.content)) == (0, 0, {})
    (home / "file").touch()
    full = await disk.save(home, same_now(empty))
    (home / "file").unlink()
    emptied = await disk.save(home, same_now(full))
    assert not list((await disk.restored(empty)).iterdir())
    assert [one.name for one in (await disk.restored(full)).iterdir()] == ["file"]
    assert not list((await disk.restored(emptied)).iterdir())


async def test_the_list_of_files_has_their_sizes(disk: Disk, home: Path) -> None:
    (home / "a").mkdir()
    (home / "a" / "b").write_bytes(bytes(1000))
    assert content_of((await disk.save(home)).content) == {"a/": 0, "a/b": 1000}


async def test_a_long_list_of_files_is_cut_and_says_so(disk: Disk, home: Path) -> None:
    for number in range(4000):
        (home / f"{os.urandom(50).hex()}-{number}").touch()
    content = (await disk.save(home)).content
    assert len(content) < 200 << 10
    assert list(content_of(content))[-1] == "…"


async def test_links_out_of_the_home_are_kept_as_links_and_never_followed(
    disk: Disk, home: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("of the machine")
    (home / "file").symlink_to(outside / "secret")
    (home / "folder").symlink_to(outside)
    (home / "loop").symlink_to("loop")
    snapshot = await disk.save(home)
    assert set(content_of(snapshot.content)) == {"file", "folder", "loop"}
    back = await disk.restored(snapshot)
    assert (back / "folder").is_symlink()
    assert (back / "file").readlink() == outside / "secret"
    assert snapshot.size_bytes == 0


async def test_pipes_sockets_and_devices_are_left_out_and_counted(disk: Disk, home: Path) -> None:
    os.mkfifo(home / "pipe")
    (home / "kept").write_text("yes")
    nodes = 0
    if os.geteuid() == 0:
        os.mknod(home / "node", stat.S_IFCHR | 0o666, os.makedev(1, 5))
        nodes = 1
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(home / "socket"))
        snapshot = await disk.save(home)
    assert snapshot.skipped == 2 + nodes
    assert [one.name for one in (await disk.restored(snapshot)).iterdir()] == ["kept"]


async def test_setuid_bits_are_not_kept(disk: Disk, home: Path) -> None:
    (home / "program").write_text("x")
    (home / "program").chmod(0o6755)
    back = await disk.restored(await disk.save(home))
    assert stat.S_IMODE((back / "program").stat().st_mode) == 0o755


async def test_hard_links_stay_one_file_and_count_once(disk: Disk, home: Path) -> None:
    (home / "one").write_bytes(bytes(5000))
    os.link(home / "one", home / "two")
    first = await disk.save(home)
    assert first.size_bytes == 5000
    back = await disk.restored(first)
    assert (back / "one").samefile(back / "two")


async def test_files_that_were_never_linked_do_not_become_one(disk: Disk, home: Path) -> None:
    (home / "one").write_text("same")
    (home / "two").write_text("same")
    second = await disk.save(home, same_now(await disk.save(home)))
    back = await disk.restored(second)
    (back / "one").write_text("changed")
    assert (back / "two").read_text() == "same"


async def test_names_need_not_be_text(disk: Disk, home: Path) -> None:
    name = os.fsdecode(b"\xff\xfe \n'\"$(x)")
    (home / name).write_text("odd")
    (home / "-rf").write_text("option")
    snapshot = await disk.save(home)
    back = await disk.restored(snapshot)
    assert (back / name).read_text() == "odd"
    assert (back / "-rf").read_text() == "option"
    assert len(content_of(snapshot.content)) == 2


async def test_what_its_user_forbade_to_read_is_kept_all_the_same(disk: Disk, home: Path) -> None:
    (home / "closed").mkdir()
    (home / "closed" / "file").write_text("inside")
    (home / "closed" / "file").chmod(0)
    (home / "closed").chmod(0)
    back = await disk.restored(await disk.save(home))
    for folder in (home, back):
        assert stat.S_IMODE((folder / "closed").stat().st_mode) == 0
        (folder / "closed").chmod(0o700)
        assert stat.S_IMODE((folder / "closed" / "file").stat().st_mode) == 0
        (folder / "closed" / "file").chmod(0o600)
        assert (folder / "closed" / "file").read_text() == "inside"


async def test_above_its_size_limit_there_is_no_snapshot_and_the_reason_names_limit_and_file(
    disk: Disk, home: Path
) -> None:
    (home / "large").write_bytes(bytes(2 << 20))
    with pytest.raises(DiskError, match=r"size limit.*large"):
        await disk.save(home, limits=DiskLimits(1 << 20, 100))


async def test_a_huge_file_of_nothing_is_above_the_limit_too(disk: Disk, home: Path) -> None:
    with (home / "sparse").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(DiskError, match="size limit"):
        await disk.save(home)


async def test_above_its_number_of_files_there_is_no_snapshot(disk: Disk, home: Path) -> None:
    for number in range(11):
        (home / str(number)).touch()
    with pytest.raises(DiskError, match="more than 10 files"):
        await disk.save(home, limits=DiskLimits(1 << 20, 10))


async def test_folders_nested_beyond_all_reason_are_refused(
    disk: Disk, home: Path, request: pytest.FixtureRequest
) -> None:
    # pytest's own way of removing its folders ends at 1,000 levels.
    request.addfinalizer(lambda: remove_tree(home))
    there = os.open(home, os.O_RDONLY)
    for level in range(2002):
        if level == 1900:
            # As deep as a path of names can be is deep enough for whatever a program made by accident.
            assert (await disk.save(home)).files == level
        os.mkdir("d", dir_fd=there)
        inner = os.open("d", os.O_RDONLY, dir_fd=there)
        os.close(there)
        there = inner
    os.close(there)
    with pytest.raises(DiskError, match=r"nested: .* Remove some"):
        await disk.save(home)


async def test_a_refused_snapshot_leaves_the_one_before_as_it_was(disk: Disk, home: Path) -> None:
    (home / "file").write_text("first")
    first = await disk.save(home)
    (home / "large").write_bytes(bytes(2 << 20))
    with pytest.raises(DiskError):
        await disk.save(home, same_now(first), DiskLimits(1 << 20, 100))
    assert [one.name for one in (await disk.restored(first)).iterdir()] == ["file"]


async def test_if_nothing_has_changed_the_snapshot_before_stays(disk: Disk, home: Path) -> None:
    (home / "folder").mkdir()
    (home / "folder" / "file").write_text("same")
    (home / "link").symlink_to("folder")
    await settled(home)
    first = await disk.save(home)
    again = await disk.save(home, same_now(first))
    assert (again.snapshot_id, again.is_unchanged) == (first.snapshot_id, True)
    assert again.size_bytes == first.size_bytes


@pytest.mark.parametrize("change", ["content", "mode", "name", "gone", "new folder", "link", "pipe only"])
async def test_each_change_makes_a_new_snapshot_and_leaves_the_old_one_alone(
    disk: Disk, home: Path, change: str
) -> None:
    (home / "file").write_text("first")
    (home / "other").write_text("other")
    (home / "link").symlink_to("file")
    first = await disk.save(home)
    match change:
        case "content":
            (home / "file").write_text("other")
        case "mode":
            (home / "file").chmod(0o400)
        case "name":
            (home / "file").rename(home / "renamed")
        case "gone":
            (home / "file").unlink()
        case "new folder":
            (home / "new").mkdir()
        case "link":
            (home / "link").unlink()
            (home / "link").symlink_to("other")
        case _:
            os.mkfifo(home / "pipe")
    second = await disk.save(home, same_now(first))
    assert not second.is_unchanged or change == "pipe only"
    before = await disk.restored(first)
    assert (before / "file").read_text() == "first"
    assert sorted(one.name for one in before.iterdir()) == ["file", "link", "other"]
    after = await disk.restored(second)
    expected = sorted(one.name for one in home.iterdir() if one.name != "pipe")
    assert sorted(one.name for one in after.iterdir()) == expected
    assert (after / "link").readlink() == (home / "link").readlink()


async def test_a_name_that_is_gone_from_the_top_is_noticed_though_its_time_is_set_back(disk: Disk, home: Path) -> None:
    for name in ("kept", "gone"):
        (home / name).touch()
    os.utime(home, (OLD_SECONDS, OLD_SECONDS))
    await settled(home)
    first = await disk.save(home)
    home.chmod(0o711)
    base = same_now(first)
    assert (await disk.save(home, base)).is_unchanged
    (home / "gone").unlink()
    os.utime(home, (OLD_SECONDS, OLD_SECONDS))
    assert not (await disk.save(home, base)).is_unchanged


async def test_a_change_that_keeps_size_and_time_is_noticed(disk: Disk, home: Path) -> None:
    (home / "file").write_text("first")
    os.utime(home / "file", (OLD_SECONDS, OLD_SECONDS))
    first = await disk.save(home)
    base = same_now(first)
    (home / "file").write_text("other")
    os.utime(home / "file", (OLD_SECONDS, OLD_SECONDS))
    second = await disk.save(home, base)
    assert (await disk.restored(second) / "file").read_text() == "other"


async def test_a_restored_home_shares_nothing_with_its_snapshot(disk: Disk, home: Path) -> None:
    (home / "file").write_text("first")
    first = await disk.save(home)
    back = await disk.restored(first)
    with (back / "file").open("r+") as file:
        file.write("CRIME")
    assert (await disk.restored(first) / "file").read_text() == "first"


async def test_a_snapshot_that_is_not_there_is_refused(disk: Disk) -> None:
    with pytest.raises(DiskError):
        await disk.restored("20260101t000000-000000000000")


@pytest.mark.parametrize("name", ["../escape", "", "a/b", "latest", "--help"])
async def test_an_id_that_is_none_reaches_nothing(disk: Disk, name: str) -> None:
    with pytest.raises(DiskError):
        await disk.restored(name)


async def test_nobody_gets_the_snapshot_of_somebody_else(disk: Disk, home: Path) -> None:
    (home / "file").write_text("alice's")
    snapshot = await disk.save(home)
    with pytest.raises(DiskError):
        await disk.restored(snapshot, BOB)


async def test_a_removed_snapshot_is_gone_and_others_stay(disk: Disk, home: Path) -> None:
    (home / "same").write_text("same")
    first = await disk.save(home)
    (home / "more").write_text("more")
    second = await disk.save(home, same_now(first))
    await disk.store.remove(ALICE, [first.snapshot_id, first.snapshot_id])
    with pytest.raises(DiskError):
        await disk.restored(first)
    assert (await disk.restored(second) / "same").read_text() == "same"


async def test_warnings_of_a_sessions_end_are_not_kept(disk: Disk, home: Path) -> None:
    (home / "WARN_EXPIRES_IN_15MIN.txt").write_text("This session ends")
    (home / "kept").touch()
    back = await disk.restored(await disk.save(home, limits=ROOMY))
    assert [one.name for one in back.iterdir()] == ["kept"]


async def swap_for_ever(home: Path, outside: Path) -> None:
    """Turns folders and files of a home into links out of it, and back."""
    for number in itertools.count():
        folder = home / f"folder-{number % 50}"
        folder.rename(home / "away")
        folder.symlink_to(outside)
        await asyncio.sleep(0)
        folder.unlink()
        (home / "away").rename(folder)
        file = folder / "secret"
        file.unlink()
        file.symlink_to(outside / "secret")
        await asyncio.sleep(0)
        file.unlink()
        file.write_text("own")


async def test_a_home_that_changes_while_it_is_saved_harms_nothing_outside(
    disk: Disk, home: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("of the machine")
    for number in range(50):
        (home / f"folder-{number}").mkdir()
        (home / f"folder-{number}" / "secret").write_text("own")

    swapping = asyncio.create_task(swap_for_ever(home, outside))
    try:
        for _ in range(5):
            back = await disk.restored(await disk.save(home))
            for root, _, names in os.walk(back, followlinks=False):
                for name in names:
                    path = back / root / name
                    assert path.is_symlink() or path.read_text() in {"own", ""}
    finally:
        swapping.cancel()
        await asyncio.gather(swapping, return_exceptions=True)
    assert (outside / "secret").read_text() == "of the machine"
