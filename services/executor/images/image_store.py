"""The images that this machine has: fetched once, unpacked once, and shared by sessions that cannot change them.

Each has a folder, named after its manifest's digest, that appears whole or not at all. Its lock is held by its
users, in whatever process, and the kernel frees it with the process. The least recently used one is removed first, if
all together take too much.
"""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import json
import os
import shutil
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar, cast

from servicekit import logging
from servicekit.cancellation import uncut
from services.executor.core.sandbox.running import running
from services.executor.core.sandbox.scratch import ScratchFolder, sweep
from services.executor.images.builder import BuildContext, Builder, OnLine, make_plain
from services.executor.images.dockerfile import base_images
from services.executor.images.errors import ImageError, ImageUnavailableError
from services.executor.images.manifest import Manifest, config_of, digest_for_this_platform, manifest_of
from services.executor.images.registries import Registries
from services.executor.sandboxes.limits.file_tree import remove_tree, tree_size
from services.executor.sandboxes.sandbox import Command, Limits, Mount, Sandbox
from vocabulary.build_contexts import WrongContextError
from vocabulary.image_references import ImageReference, image_reference

OnPercent = Callable[[int], None]

log = logging.get_logger(__name__)
T = TypeVar("T")

PROGRAM = Path(__file__).with_name("sandboxed") / "unpack.py"
_PACKAGES = {"skopeo": "skopeo", "umoci": "umoci", "bwrap": "bubblewrap"}
_FACTS = "image.json"
_POLL_SECONDS = 0.5
_POLL_SHARE = 10
"""Counting takes a tenth of the time at most."""
_UNPACKED = 4
"""An image, unpacked and compressed, takes about so many times what it takes compressed."""
_GIB = 1 << 30
_MEMORY_MIB = 2048
_PROCESSES = 256
_OUTPUT_BYTES = 1 << 16
_FEWEST_FREE_FILES = 10_000


def missing_for_images() -> str:
    """Return what this machine lacks for images, with the fix; empty if it has everything."""
    for program, package in _PACKAGES.items():
        if shutil.which(program) is None:
            return f"{program} is not installed: run `apt-get install {package}` on this machine"
    return ""


@dataclass(frozen=True)
class ImageRules:
    """The most that one image may take, compressed and unpacked, and all together; and how long fetching may take.

    So much of the disk stays free.
    """

    most_bytes: int
    most_files: int
    most_bytes_in_all: int
    longest: timedelta
    reserve_bytes: int


@dataclass(frozen=True)
class Image:
    """An unpacked image. Its files, in `root`, are shared: nobody may write there."""

    digest: str
    root: Path
    shell: str
    environment: Mapping[str, str]
    command: tuple[str, ...]
    folder: str
    """Where the command runs."""


def wanted_digest(context: BuildContext, bases: Mapping[str, str]) -> str:
    """Return the name of what is built from a context and these bases, by their names; pure."""
    parts = json.dumps([1, context.digest, sorted(bases.items())])
    return f"sha256:{hashlib.sha256(parts.encode()).hexdigest()}"


class HeldImage:
    """An image that is not removed until it is released."""

    def __init__(self, image: Image, lock: int) -> None:
        self.image = image
        self._lock = lock

    def release(self) -> None:
        """Let it be removed; call it once."""
        os.close(self._lock)


class ImageStore:
    """Keeps images in `folder`, and unpacks them in `sandbox`."""

    def __init__(
        self, folder: Path, registries: Registries, rules: ImageRules, sandbox: Sandbox, builder: Builder
    ) -> None:
        """Make the folder, and remove what killed processes have left of half of an image; raises OSError."""
        folder.mkdir(parents=True, exist_ok=True)
        # Everybody may write to the files of an image, for whom the folder is not closed.
        folder.chmod(0o700)
        sweep(folder)
        for gone in folder.glob("*.gone"):
            remove_tree(gone)
        self._folder = folder
        self._registries = registries
        self._rules = rules
        self._sandbox = sandbox
        self._builder = builder
        self._building = asyncio.Lock()
        """One at a time, as each may take as much of the disk and memory as a build may."""
        self._turns = defaultdict[str, asyncio.Lock](asyncio.Lock)

    async def hold(self, reference: ImageReference, on_percent: OnPercent) -> HeldImage:
        """Return the image, fetched if it is not here; raises ImageError, ImageUnavailableError."""
        self._registries.check(reference)
        try:
            async with asyncio.timeout(self._rules.longest.total_seconds()):
                return await self._hold(reference, on_percent)
        except TimeoutError as error:
            minutes = self._rules.longest.total_seconds() / 60
            raise ImageError(f"it takes longer than {minutes:g} minutes to fetch and unpack") from error
        except OSError as error:
            raise ImageUnavailableError(f"this machine cannot keep it: {error}") from error

    async def hold_built(self, context: BuildContext, on_line: OnLine) -> HeldImage:
        """Return the image of a Dockerfile, built if it is not here; raises ImageError, ImageUnavailableError.

        Its digest is that of the context and of the images that it is built from.
        """
        self._builder.check()
        longest = self._builder.rules.longest.total_seconds()
        if self._building.locked():
            on_line("Waiting for another build on this machine.")
        async with self._building:
            try:
                async with asyncio.timeout(longest):
                    return await self._hold_built(context, on_line)
            except TimeoutError as error:
                raise ImageError(f"it takes longer than {longest / 60:g} minutes (EXECUTOR_BUILD_TIMEOUT)") from error
            except OSError as error:
                raise ImageUnavailableError(f"this machine cannot keep it: {error}") from error

    async def _hold_built(self, context: BuildContext, on_line: OnLine) -> HeldImage:
        try:
            names = base_images(context.dockerfile)
        except WrongContextError as error:
            raise ImageError(str(error)) from error
        references = {name: image_reference(name) for name in names}
        for reference in references.values():
            self._registries.check(reference)

        async def held_in(scratch: Path) -> HeldImage:
            pinned = {name: await self._pinned(one, scratch) for name, one in references.items()}
            digest = wanted_digest(context, {name: manifest.digest for name, (_, manifest) in pinned.items()})
            return await self._held(digest, lambda: self._build(context, pinned, digest, scratch, on_line))

        return await self._with_scratch(held_in)

    async def _with_scratch(self, held_in: Callable[[Path], Awaitable[HeldImage]]) -> HeldImage:
        """Return what `held_in` makes with a folder for it; if its waiter is cancelled, nothing is held."""
        scratch = ScratchFolder(self._folder)
        try:
            held = await held_in(scratch.path)
        except BaseException:
            await uncut(asyncio.to_thread(scratch.remove))
            raise
        try:
            await uncut(asyncio.to_thread(scratch.remove))
        except BaseException:
            held.release()
            raise
        return held

    async def _held(self, digest: str, make: Callable[[], Awaitable[None]]) -> HeldImage:
        """Return the image, made by `make` if it is not here."""
        lock = self._lock_of(digest)
        try:
            if not self._place_of(digest).is_dir():
                await make()
                await asyncio.to_thread(self._make_room)
            return HeldImage(self._image(digest), lock)
        except BaseException:
            os.close(lock)
            raise

    async def _build(
        self,
        context: BuildContext,
        pinned: Mapping[str, tuple[ImageReference, Manifest]],
        digest: str,
        scratch: Path,
        on_line: OnLine,
    ) -> None:
        """Build it, and put it into its place."""
        begin = time.monotonic()
        folder = scratch / "work"
        bases = folder / "bases"
        bases.mkdir(parents=True)
        folders: dict[str, str] = {}
        for number, (name, (reference, manifest)) in enumerate(pinned.items()):
            on_line(f"Fetching {name}")
            await self._copy(reference, manifest, bases, lambda _: None)
            (bases / "layout").rename(bases / str(number))
            folders[str(number)] = name
        # Each file of a layout may be read by who builds, and by nobody else than ourselves until then.
        await asyncio.to_thread(make_plain, bases)
        building = self._builder.build(context, folders, folder, on_line)
        layout = await self._watched(building, folder, lambda _: None, self._builder.rules.most_bytes)
        await self._keep(layout, digest, scratch)
        seconds = round(time.monotonic() - begin, 1)
        log.info("an image is built", extra={"digest": digest, "context": context.digest, "seconds": seconds})

    async def _hold(self, reference: ImageReference, on_percent: OnPercent) -> HeldImage:
        async def held_in(scratch: Path) -> HeldImage:
            pinned, manifest = await self._pinned(reference, scratch)
            # Others who want it meanwhile find it here afterwards.
            async with self._turns[manifest.digest]:
                return await self._held(manifest.digest, lambda: self._fetch(pinned, manifest, scratch, on_percent))

        return await self._with_scratch(held_in)

    async def _pinned(self, reference: ImageReference, folder: Path) -> tuple[ImageReference, Manifest]:
        """Return the reference to one manifest; whatever the tag names a moment later, it stays."""
        raw = await self._registries.raw_manifest(reference, folder)
        pinned = reference.pinned(digest_for_this_platform(raw))
        if pinned.digest != reference.digest:
            raw = await self._registries.raw_manifest(pinned, folder)
        manifest = manifest_of(raw)
        if manifest.digest != pinned.digest:
            raise ImageError(f"{reference.registry} has another manifest under the digest {pinned.digest}")
        return pinned, manifest

    async def _fetch(self, pinned: ImageReference, manifest: Manifest, scratch: Path, on_percent: OnPercent) -> None:
        """Fetch and unpack it, and put it into its place."""
        begin = time.monotonic()
        await self._copy(pinned, manifest, scratch, on_percent)
        size_bytes = await self._keep(scratch / "layout", manifest.digest, scratch)
        log.info(
            "an image is here",
            extra={"image": pinned.address, "size_bytes": size_bytes, "seconds": round(time.monotonic() - begin, 1)},
        )

    async def _copy(self, pinned: ImageReference, manifest: Manifest, folder: Path, on_percent: OnPercent) -> None:
        """Copy the image into `folder/layout`; raises ImageError, ImageUnavailableError, OSError."""
        most = self._rules.most_bytes
        if manifest.compressed_bytes > most:
            raise ImageError(f"it has {_gib(manifest.compressed_bytes)} even compressed, and the most are {_gib(most)}")
        await asyncio.to_thread(self._make_room, _UNPACKED * manifest.compressed_bytes)
        if manifest.compressed_bytes > (free_bytes := self._free_bytes()):
            raise ImageUnavailableError(f"this machine has no room for it, but for {_gib(max(0, free_bytes))}")

        def tell(done_bytes: int) -> None:
            on_percent(min(100, 100 * done_bytes // max(1, manifest.compressed_bytes)))

        await self._watched(self._registries.copy(pinned, folder, most), folder / "layout", tell)

    async def _keep(self, layout: Path, digest: str, scratch: Path) -> int:
        """Unpack an image, and put it into its place; return what it takes, in bytes."""
        target = scratch / "target"
        target.mkdir()
        config = config_of(await asyncio.to_thread(_config_bytes, layout))
        unpacking = self._unpack(layout, target, config.shell)
        shell = await self._watched(unpacking, target, lambda _: None)
        size_bytes = await asyncio.to_thread(self._checked_size, target)
        facts = {
            "shell": shell,
            "size_bytes": size_bytes,
            "environment": config.environment,
            "command": config.command,
            "folder": config.folder,
        }
        (target / _FACTS).write_text(json.dumps(facts), "utf-8")
        place = self._place_of(digest)
        try:
            target.rename(place)
        except OSError:
            # Another executor that keeps its images here may have been faster.
            if not place.is_dir():
                raise
        return size_bytes

    async def _unpack(self, layout: Path, target: Path, shell: str) -> str:
        """Unpack the layers as a user of nothing else, who has no network; return the image's shell."""
        program = Path("/program/unpack.py")
        command = Command(
            ["/usr/bin/python3", "-I", "-S", str(program), "/layout", "/target/root", shell],
            Path("/target"),
            [
                Mount(PROGRAM, program),
                Mount(layout, Path("/layout")),
                Mount(target, Path("/target"), writable=True, is_counted=False),
            ],
            {"PATH": "/usr/bin:/bin", "HOME": "/tmp"},  # noqa: S108  the sandbox's own
        )
        limits = Limits(
            wall=self._rules.longest,
            cpu=self._rules.longest,
            memory_mib=_MEMORY_MIB,
            processes=_PROCESSES,
            file_mib=self._rules.most_bytes >> 20,
            output_bytes=_OUTPUT_BYTES,
        )
        async with running(self._sandbox, command, limits) as process:
            ended = await process.wait()
        said = _last_line(ended.stdout)
        if "refused" in said:
            raise ImageError(str(said["refused"])[:_OUTPUT_BYTES])
        if ended.code or "shell" not in said:
            words = ended.stderr.decode(errors="replace").strip()[-500:]
            raise ImageError(f"it cannot be unpacked: {words or f'status {ended.code}, signal {ended.signal}'}")
        return str(said["shell"])

    async def _watched(
        self, work: Coroutine[Any, Any, T], folder: Path, tell: OnPercent, most_bytes: int | None = None
    ) -> T:
        """Return what the work returns, and cancel it if the folder becomes too large.

        That is if it has more than an image may have, or `most_bytes`, as a build may. Raises ImageError,
        ImageUnavailableError.
        """
        working = asyncio.create_task(work)
        watching = asyncio.create_task(self._watch(folder, tell, most_bytes))
        try:
            await asyncio.wait({working, watching}, return_when=asyncio.FIRST_COMPLETED)
            if watching.done():
                watching.result()
            return await working
        finally:
            for task in (working, watching):
                task.cancel()
            await asyncio.gather(working, watching, return_exceptions=True)

    async def _watch(self, folder: Path, tell: OnPercent, most_bytes: int | None) -> None:
        """Look at the folder and at the disk for ever; raises ImageError, ImageUnavailableError."""
        next_count = 0.0
        while True:
            self._check_room()
            begin = time.monotonic()
            if begin >= next_count:
                tell(await asyncio.to_thread(self._checked_size, folder, most_bytes))
                next_count = begin + _POLL_SHARE * (time.monotonic() - begin)
            await asyncio.sleep(_POLL_SECONDS)

    def _checked_size(self, folder: Path, most_bytes: int | None = None) -> int:
        """Return what is in the folder, in bytes; raises ImageError, ImageUnavailableError."""
        size_bytes, files = tree_size(folder)
        if most_bytes is not None:
            if size_bytes > most_bytes:
                raise ImageError(f"building it takes more than {_gib(most_bytes)} of the disk (EXECUTOR_BUILD_SIZE)")
            return size_bytes
        if size_bytes > self._rules.most_bytes:
            raise ImageError(f"it has more than {_gib(self._rules.most_bytes)} (EXECUTOR_IMAGE_SIZE), or nests folders")
        if files > self._rules.most_files:
            raise ImageError(f"it has more than {self._rules.most_files} files (EXECUTOR_IMAGE_FILES)")
        return size_bytes

    def _check_room(self) -> None:
        """Raise ImageUnavailableError if the disk becomes full; looking at it costs nothing."""
        status = os.statvfs(self._folder)
        if self._free_bytes() <= 0 or (status.f_files and status.f_favail < _FEWEST_FREE_FILES):
            raise ImageUnavailableError("this machine has no room for it")

    def _free_bytes(self) -> int:
        status = os.statvfs(self._folder)
        return status.f_bavail * status.f_frsize - self._rules.reserve_bytes

    def _image(self, digest: str) -> Image:
        place = self._place_of(digest)
        facts: dict[str, Any] = json.loads((place / _FACTS).read_text("utf-8"))
        return Image(
            digest, place / "root", facts["shell"], facts["environment"], tuple(facts["command"]), facts["folder"]
        )

    def _place_of(self, digest: str) -> Path:
        return self._folder / digest.removeprefix("sha256:")

    def _lock_of(self, digest: str) -> int:
        """Return a descriptor that holds the image, and note that it is used now."""
        path = self._place_of(digest).with_suffix(".lock")
        while True:
            lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(lock, fcntl.LOCK_SH)
            with suppress(FileNotFoundError):
                # The remover of an image removes its lock, too.
                if os.path.samestat(path.stat(), os.fstat(lock)):
                    os.utime(lock)
                    return lock
            os.close(lock)

    def _make_room(self, free_bytes: int = 0) -> None:
        """Remove what was used least recently, and is not used.

        Enough is removed if all together take no more than they may, and so much is free.
        """
        places = [path.with_suffix("") for path in self._folder.glob("*.lock")]
        last_used = {place: _used_ns(place) for place in places}
        sizes = {place: _size_of(place) for place in places}
        for place in sorted(places, key=lambda one: last_used[one]):
            if sum(sizes.values()) <= self._rules.most_bytes_in_all and self._free_bytes() >= free_bytes:
                return
            if _removed(place):
                log.info("an image is removed", extra={"digest": place.name, "size_bytes": sizes[place]})
                del sizes[place]


def _removed(place: Path) -> bool:
    """Remove an image; False if somebody uses it."""
    path = place.with_suffix(".lock")
    with suppress(OSError):
        lock = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            gone = place.with_suffix(".gone")
            if place.is_dir():
                place.rename(gone)
            path.unlink()
            remove_tree(gone)
        finally:
            os.close(lock)
        return True
    return False


def _used_ns(place: Path) -> int:
    with suppress(OSError):
        return place.with_suffix(".lock").stat().st_mtime_ns
    return 0


def _size_of(place: Path) -> int:
    with suppress(OSError, ValueError, KeyError):
        return int(json.loads((place / _FACTS).read_text("utf-8"))["size_bytes"])
    return 0


def _config_bytes(layout: Path) -> bytes:
    """Return the configuration of the only image in a layout; raises ImageError."""
    try:
        index = json.loads((layout / "index.json").read_bytes())
        manifest = json.loads(_blob(layout, index["manifests"][0]["digest"]))
        return _blob(layout, manifest["config"]["digest"])
    except (ValueError, KeyError, IndexError, TypeError, RecursionError) as error:
        raise ImageError("its configuration cannot be read") from error


def _blob(layout: Path, digest: str) -> bytes:
    kind, _, name = digest.partition(":")
    path = layout / "blobs" / Path(kind).name / Path(name).name
    if path.stat().st_size > _MOST_CONFIG_BYTES:
        raise ImageError("its configuration is too large")
    return path.read_bytes()


def _last_line(output: bytes) -> dict[str, Any]:
    try:
        said: Any = json.loads(output.splitlines()[-1])
    except (ValueError, IndexError):
        return {}
    return cast("dict[str, Any]", said) if isinstance(said, dict) else {}


def _gib(size_bytes: int) -> str:
    return f"{size_bytes / _GIB:.3g} GiB"


_MOST_CONFIG_BYTES = 4 << 20
