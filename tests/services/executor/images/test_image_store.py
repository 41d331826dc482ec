"""Images from a real registry, unpacked in a real sandbox; many are made to do harm."""

from __future__ import annotations

import asyncio
import fcntl
import os
import stat
import tarfile
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from services.executor.core.sandbox.scratch import ScratchFolder
from services.executor.images.builder import Builder, BuildRules
from services.executor.images.errors import ImageError, ImageUnavailableError
from services.executor.images.image_store import HeldImage, ImageRules, ImageStore
from services.executor.images.registries import Registries
from services.executor.sandboxes.bubblewrap.sandbox import BubblewrapSandbox
from tests.image_registry import ImageRegistry, busybox, file, layer, link, running_registry
from vocabulary.image_references import image_reference

pytestmark = [pytest.mark.bubblewrap, pytest.mark.images]

MIB = 1 << 20
RULES = ImageRules(
    most_bytes=64 * MIB,
    most_files=2000,
    most_bytes_in_all=1 << 30,
    longest=timedelta(minutes=5),
    reserve_bytes=1 << 20,
)


BUILD_RULES = BuildRules(timedelta(minutes=5), 512 * MIB, 1024, 2.0)


class Store:
    """A store of images, and the registry that it reads."""

    def __init__(self, folder: Path, registry: ImageRegistry, rules: ImageRules = RULES) -> None:
        self.folder = folder
        self.registry = registry
        registries = Registries(insecure=(registry.address,))
        builder = Builder("nothing is built here", BUILD_RULES)
        self.store = ImageStore(folder, registries, rules, BubblewrapSandbox(), builder)

    async def hold(self, name: str) -> HeldImage:
        return await self.store.hold(image_reference(f"{self.registry.address}/{name}"), lambda _: None)

    async def unpacked(self, *layers: bytes, **fields: Any) -> Path:
        """The root of an image with these layers."""
        self.registry.push("this", *layers, **fields)
        held = await self.hold("this:1")
        held.release()
        return held.image.root

    async def refusal(self, *layers: bytes, **fields: Any) -> str:
        with pytest.raises(ImageError) as refused:
            await self.unpacked(*layers, **fields)
        assert not [path for path in self.folder.iterdir() if path.suffix != ".lock"]
        return str(refused.value)


@pytest.fixture(scope="module")
def registry_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("registry")


@pytest.fixture(scope="module")
def registry(registry_folder: Path) -> Iterator[ImageRegistry]:
    with running_registry(registry_folder) as running:
        yield running


@pytest.fixture
def store(tmp_path: Path, registry: ImageRegistry) -> Store:
    return Store(tmp_path / "images", registry)


def names_below(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


async def test_an_image_is_unpacked_whole_with_how_it_wants_to_be_run(store: Store) -> None:
    config = {
        "Env": ["A=b=c", "HOME=/root", "bad name=1", "LINES=a\nb", "SHELL=/bin/none"],
        "Entrypoint": ["/bin/sh", "-c"],
        "Cmd": ["sleep 1"],
        "WorkingDir": "/opt",
    }
    digest = store.registry.push("whole", busybox(), layer([file("opt/second", "2")]), config=config)
    held = await store.hold("whole:1")

    assert held.image.digest == digest
    assert held.image.environment == {"A": "b=c"}
    assert held.image.command == ("/bin/sh", "-c", "sleep 1")
    assert held.image.folder == "/opt"
    assert held.image.shell == "/bin/sh"
    assert (held.image.root / "opt/second").read_text() == "2"
    assert (held.image.root / "etc/os-release").read_text() == "ID=tiny\n"


async def test_whiteouts_remove_what_lower_layers_have(store: Store) -> None:
    lower = layer([file("opt/gone"), file("opt/kept"), file("srv/a"), file("srv/b")])
    upper = layer([file("opt/.wh.gone"), file("srv/.wh..wh..opq"), file("srv/c")])
    root = await store.unpacked(busybox(), lower, upper)

    assert names_below(root / "opt") == {"kept"}
    assert names_below(root / "srv") == {"c"}


@pytest.mark.parametrize(
    "entries",
    [
        [file("../../../escape", "x"), file("/../../escape", "x")],
        [link("out", "../../../.."), file("out/escape", "x")],
        [link("out", "/"), file("out/escape", "x")],
        [link("opt/a", "../../.."), link("opt/b", "a/../../.."), file("opt/b/escape", "x")],
        [link("escape", "../../../../../../etc/passwd", tarfile.LNKTYPE)],
        [file("opt/.wh..."), file(".wh..")],
        [file("../target/image.json", "{}")],
    ],
    ids=["dots", "link up", "link to the root", "links to links", "hard link out", "whiteouts of dots", "facts"],
)
async def test_nothing_is_written_or_removed_outside_of_the_images_root(
    store: Store, tmp_path: Path, entries: list[Any]
) -> None:
    before = {path: path.stat().st_mtime_ns for path in (Path("/"), tmp_path, Path("/etc/passwd"))}
    store.registry.push("this", busybox(), layer(entries))
    try:
        held = await store.hold("this:1")
    except ImageError:
        pass
    else:
        root = held.image.root
        assert names_below(root.parent) - {f"root/{name}" for name in names_below(root)} == {"root", "image.json"}
        assert not (root / "escape").exists() or (root / "escape").stat().st_ino != Path("/etc/passwd").stat().st_ino
        held.release()
    assert before == {path: path.stat().st_mtime_ns for path in before}
    assert names_below(tmp_path) - {f"images/{name}" for name in names_below(tmp_path / "images")} == {"images"}


async def test_devices_pipes_and_rights_of_files_do_not_remain(store: Store) -> None:
    root = await store.unpacked(
        busybox(
            file("opt/disk", type=tarfile.BLKTYPE, devmajor=254, devminor=0, mode=0o666),
            file("opt/memory", type=tarfile.CHRTYPE, devmajor=1, devminor=1, mode=0o666),
            file("opt/pipe", type=tarfile.FIFOTYPE),
            file("opt/root", "#!/bin/sh\n", 0o6755),
            file("opt/closed", type=tarfile.DIRTYPE, mode=0o000),
            file("opt/closed/secret", "s", 0o000),
        )
    )
    for path in root.rglob("*"):
        mode = path.lstat().st_mode
        assert stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode), path
        assert stat.S_ISLNK(mode) or not mode & (stat.S_ISUID | stat.S_ISGID | stat.S_ISVTX), path
        # Sessions run as other users than the one that unpacked it.
        assert stat.S_ISLNK(mode) or mode & 0o006 == 0o006, path
    assert (root / "opt/closed/secret").read_text() == "s"
    assert stat.S_IMODE((root / "opt/root").stat().st_mode) == 0o777


async def test_what_is_mounted_over_is_no_link_of_the_images(store: Store) -> None:
    names = ("proc", "dev", "sys", "tmp", "run", "session", "workspace", "home/dev", "etc/passwd", "etc/resolv.conf")
    links = [link(name, "/oldroot/etc") for name in names]
    root = await store.unpacked(busybox(file("home", type=tarfile.DIRTYPE, mode=0o755), *links))
    assert not [name for name in names if (root / name).is_symlink()]
    assert (root / "etc/passwd").is_file()
    assert (root / "home/dev").is_dir()


@pytest.mark.parametrize("name", ["home", "etc", ".wavepool", "var"])
async def test_a_link_in_the_place_of_a_folder_that_must_be_one_is_refused(store: Store, name: str) -> None:
    small = layer([link(name, "/oldroot/etc")])
    assert f"its /{name} is not a folder" in await store.refusal(small)


async def test_what_the_loader_reads_first_is_not_the_images(store: Store) -> None:
    root = await store.unpacked(busybox(file("etc/ld.so.preload", "/opt/evil.so"), file("etc/ld.so.cache", "x")))
    assert not names_below(root / "etc") & {"ld.so.preload", "ld.so.cache"}


async def test_an_overlays_own_attributes_do_not_remain(store: Store) -> None:
    entry, data = file("opt/redirected", type=tarfile.DIRTYPE, mode=0o755)
    entry.pax_headers = {"SCHILY.xattr.user.overlay.redirect": "/etc", "SCHILY.xattr.user.kept": "yes"}
    root = await store.unpacked(busybox((entry, data)))
    assert os.listxattr(root / "opt/redirected") == ["user.kept"]


async def test_a_large_file_is_refused_however_well_it_is_compressed(store: Store) -> None:
    assert await store.refusal(busybox(file("opt/zeros", bytes(80 * MIB))))


async def test_many_layers_that_are_large_together_are_refused(store: Store) -> None:
    layers = [layer([file(f"opt/zeros-{number}", bytes(10 * MIB))]) for number in range(8)]
    assert "more than 0.0625 GiB" in await store.refusal(busybox(), *layers)


async def test_many_files_are_refused(store: Store) -> None:
    entries = [file(f"opt/{number}") for number in range(RULES.most_files)]
    assert "more than 2000 files" in await store.refusal(busybox(*entries))


async def test_folders_that_are_nested_deeply_are_refused(store: Store) -> None:
    assert await store.refusal(busybox(file("/".join("a" * 300), "x")))


async def test_an_image_without_a_shell_is_refused(store: Store) -> None:
    assert "it has no shell" in await store.refusal(layer([file("bin/program", "x", 0o755), link("bin/sh", "/bin/sh")]))


async def test_an_image_for_another_machine_is_refused(store: Store) -> None:
    assert "made for linux/arm64" in await store.refusal(busybox(), architecture="arm64")


async def test_of_a_list_the_image_for_this_machine_is_taken(store: Store) -> None:
    wanted = store.registry.push("list", busybox(name="wanted"), tag="a")
    other = store.registry.push("list", busybox(name="other"), tag="b", architecture="arm64")
    store.registry.put_list("list", "both", {"arm64": other, "amd64": wanted})
    store.registry.put_list("list", "other", {"arm64": other})

    assert (await store.hold("list:both")).image.digest == wanted
    with pytest.raises(ImageError, match="not made for linux/amd64"):
        await store.hold("list:other")


async def test_a_layer_that_is_not_what_its_digest_says_is_refused(store: Store, registry_folder: Path) -> None:
    pushed = busybox(name="tampered")
    store.registry.push("tampered", pushed)
    stored = [path for path in registry_folder.rglob("data") if path.read_bytes() == pushed]
    stored[0].write_bytes(busybox(name="tempered"))
    with pytest.raises((ImageError, ImageUnavailableError)):
        await store.hold("tampered:1")
    assert not [path for path in store.folder.iterdir() if path.suffix != ".lock"]


async def test_an_image_is_pinned_when_it_is_asked_for(store: Store) -> None:
    first = await store.unpacked(busybox(name="first"))
    second = await store.unpacked(busybox(name="second"))
    assert (first / "etc/os-release").read_text() == "ID=first\n"
    assert (second / "etc/os-release").read_text() == "ID=second\n"


async def test_those_who_want_an_image_at_once_have_it_fetched_once(store: Store, registry_folder: Path) -> None:
    once = busybox(name="once")
    store.registry.push("once", once)
    held = await asyncio.gather(*(store.hold("once:1") for _ in range(4)))

    assert len({one.image.root for one in held}) == 1
    blob = store.registry.blob("once", once, "layer.v1.tar+gzip")["digest"]
    assert store.registry.fetched(registry_folder / "log", blob) == 1


async def test_executors_that_keep_their_images_in_one_folder_may_fetch_one_at_once(store: Store) -> None:
    store.registry.push("shared", busybox(name="shared"))
    other = Store(store.folder, store.registry)
    held = await asyncio.gather(store.hold("shared:1"), other.hold("shared:1"))

    assert len({one.image.root for one in held}) == 1
    assert (held[0].image.root / "etc/os-release").read_text() == "ID=shared\n"
    assert not list(store.folder.glob("wavepool-run-*"))


async def test_who_gives_up_does_not_keep_others_from_it(store: Store) -> None:
    store.registry.push("given-up", busybox(name="given-up"))
    first = asyncio.create_task(store.hold("given-up:1"))
    second = asyncio.create_task(store.hold("given-up:1"))
    while not list(store.folder.glob("wavepool-run-*/layout")):
        await asyncio.sleep(0)
    first.cancel()
    assert (await second).image.shell == "/bin/sh"
    assert not list(store.folder.glob("wavepool-run-*"))


async def test_the_images_used_least_recently_make_room_unless_they_are_in_use(
    tmp_path: Path, registry: ImageRegistry
) -> None:
    large = [busybox(file("opt/large", os.urandom(4 * MIB)), name=f"large-{number}") for number in range(4)]
    for number, one in enumerate(large):
        registry.push("large", one, tag=str(number))
    rules = ImageRules(64 * MIB, 2000, 15 * MIB, timedelta(minutes=5), 1 << 20)
    store = Store(tmp_path / "images", registry, rules)
    in_use = await store.hold("large:0")
    unused = await store.hold("large:1")
    unused.release()
    (await store.hold("large:2")).release()

    assert in_use.image.root.is_dir()
    assert not unused.image.root.exists()
    in_use.release()
    newest = await store.hold("large:3")
    assert newest.image.root.is_dir()
    assert not in_use.image.root.exists()
    assert len(list(store.folder.iterdir())) == 4


async def test_unused_images_make_room_on_a_disk_that_is_full(tmp_path: Path, registry: ImageRegistry) -> None:
    for name in ("old", "new"):
        registry.push(name, busybox(name=name))
    store = Store(tmp_path / "images", registry)
    old = await store.hold("old:1")
    old.release()
    status = os.statvfs(tmp_path)
    free = status.f_bavail * status.f_frsize
    full = Store(tmp_path / "images", registry, replace(RULES, reserve_bytes=free + (1 << 40)))
    with pytest.raises(ImageUnavailableError, match="no room"):
        await full.hold("new:1")
    assert not old.image.root.exists()


async def test_a_registry_that_is_silent_is_no_fault_of_the_image(tmp_path: Path) -> None:
    with running_registry(tmp_path / "registry") as registry:
        store = Store(tmp_path / "images", registry)
    with pytest.raises(ImageUnavailableError, match="connection refused"):
        await store.hold("this:1")


async def test_what_a_killed_process_has_left_is_removed(store: Store, registry: ImageRegistry) -> None:
    half = store.folder / "wavepool-run-half"
    half.mkdir()
    (half / "layout").mkdir()
    gone = store.folder / "abc.gone"
    gone.mkdir()
    Store(store.folder, registry)
    assert not half.exists()
    assert not gone.exists()


async def test_who_gives_up_at_the_last_moment_holds_no_image(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.registry.push("held", busybox(name="held"))
    begun, may_end, remove = threading.Event(), threading.Event(), ScratchFolder.remove

    def slowly(scratch: ScratchFolder) -> None:
        begun.set()
        assert may_end.wait(60)
        remove(scratch)

    monkeypatch.setattr(ScratchFolder, "remove", slowly)
    holding = asyncio.create_task(store.hold("held:1"))
    assert await asyncio.to_thread(begun.wait, 60)
    holding.cancel()
    may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await holding
    [lock] = store.folder.glob("*.lock")
    with lock.open() as taken:
        fcntl.flock(taken, fcntl.LOCK_EX | fcntl.LOCK_NB)
