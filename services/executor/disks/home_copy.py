"""Copies homes that hostile people may be changing: `home_copy save|restore|measure|clean`; stdin says what to do.

It is a process of its own, so that it can be killed at any moment and holds nobody up. Folders are walked by their
open descriptors, and no link is followed, neither of files nor of folders: whatever is put in the way meanwhile,
nothing outside of the home is read or written. Regular files, folders and symbolic links are copied, with their modes
and times, but without owners, extended attributes and setuid bits; devices, sockets and pipes are left out and counted.

A file that is the same as in the base becomes a hard link to the base's. It is the same if size, mode and time of
change are, and if the kernel says that it was not touched since it was (`ctime`, which nobody can set). Snapshots never
change, so they may share files; a home shares none with them.
"""

from __future__ import annotations

import base64
import ctypes
import errno
import fcntl
import json
import os
import re
import resource
import signal
import stat
import sys
import time
import zlib
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from services.executor.sandboxes.limits.file_tree import remove_tree

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

PARTIAL = ".partial"
CONTENT_BYTES = 128 << 10
"""Most bytes of the compressed list of a snapshot's files."""
_MOST_LEVELS = 300
"""Each level holds three descriptors."""
_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_MODE = 0o1777
"""Of a file's mode, what is kept."""
_READABLE = stat.S_IRUSR | stat.S_IXUSR
_CLOCK_NS = 12_000_000
"""How far the times that a kernel gives to files lag behind its clock, at most: a tick of 100 Hz, and a little."""
_FICLONE = 0x40049409
_CHUNK_BYTES = 64 << 20
_PR_SET_PDEATHSIG = 1
_PROGRESS_SECONDS = 0.5
_WARNING = re.compile(r"WARN_EXPIRES_IN_\d+MIN\.txt")
"""The session's own files at the top of a home, which say nothing to the next session."""


class RefusedError(Exception):
    """The copy is not made; the message says why, to the disk's owner."""


class ContentList:
    """The list of a snapshot's files: lines of JSON, compressed, cut where it is too long."""

    def __init__(self) -> None:
        self._compressor = zlib.compressobj()
        self._parts: list[bytes] = []
        self._bytes = 0
        self._is_cut = False

    def add(self, path: str, size_bytes: int, time_seconds: float) -> None:
        """Add a file; a folder's path ends with `/`."""
        if self._is_cut:
            return
        shown = path.encode(errors="surrogateescape").decode(errors="replace")
        line = json.dumps([shown, size_bytes, int(time_seconds)], ensure_ascii=False)
        self._put(self._compressor.compress(f"{line}\n".encode()))
        if self._bytes > CONTENT_BYTES:
            self._is_cut = True
            self._put(self._compressor.compress(b'["\xe2\x80\xa6", 0, 0]\n'))

    def finish(self) -> bytes:
        """Return the list."""
        self._put(self._compressor.flush())
        return b"".join(self._parts)

    def _put(self, part: bytes) -> None:
        self._parts.append(part)
        self._bytes += len(part)


@dataclass
class Copy:
    """One copy of a tree, and what has been counted so far; without a `target` it is only counted.

    `base` is the open folder that the source was the same as at `base_time_ns`.
    """

    source: int
    target: int | None
    base: int | None = None
    base_time_ns: int = 0
    most_bytes: int = 1 << 62
    most_files: int = 1 << 62
    reserve_bytes: int = 0
    size_bytes: int = 0
    files: int = 0
    skipped: int = 0
    is_changed: bool = False
    newest_ns: int = 0
    """When something was last touched, by the kernel's clock."""
    total_bytes: int = 0
    content: ContentList = field(default_factory=ContentList)
    _links: dict[tuple[int, int], str] = field(default_factory=dict[tuple[int, int], str])
    _told: float = 0.0

    def run(self) -> None:
        """Copy everything; raises RefusedError, OSError."""
        self._device = os.fstat(self.source).st_dev
        self._folder(self.source, self.target, self.base, "", 0)

    def _folder(self, source: int, target: int | None, base: int | None, path: str, level: int) -> None:
        if level > _MOST_LEVELS:
            raise RefusedError(f"more than {_MOST_LEVELS} folders are nested: {_shown(path)}")
        kept = 0
        for name in sorted(os.listdir(source)):
            if level == 0 and _WARNING.fullmatch(name):
                continue
            with suppress(FileNotFoundError, NotADirectoryError):
                kept += self._entry(source, target, base, name, f"{path}/{name}" if path else name, level)
        if base is None or len(os.listdir(base)) != kept:  # noqa: PTH208  of an open folder
            self.is_changed = True
        status = os.fstat(source)
        self.newest_ns = max(self.newest_ns, status.st_ctime_ns)
        if target is not None:
            os.utime(target, ns=(status.st_mtime_ns, status.st_mtime_ns))

    def _entry(self, source: int, target: int | None, base: int | None, name: str, path: str, level: int) -> bool:
        """Copy one entry; returns False if it is left out."""
        status = os.stat(name, dir_fd=source, follow_symlinks=False)
        if stat.S_ISDIR(status.st_mode):
            return self._inner(source, target, base, name, path, level)
        if stat.S_ISLNK(status.st_mode):
            return self._link(source, target, base, name, path, status)
        if not stat.S_ISREG(status.st_mode):
            self.skipped += 1
            return False
        return self._file(source, target, base, name, path)

    def _inner(self, source: int, target: int | None, base: int | None, name: str, path: str, level: int) -> bool:
        with ExitStack() as opened:
            folder = opened.enter_context(_open_folder(name, source))
            if folder.status.st_dev != self._device:
                self.skipped += 1
                return False
            self._count(f"{path}/", 0, folder.status)
            inner = before = None
            if target is not None:
                os.mkdir(name, stat.S_IRWXU, dir_fd=target)
                inner = os.open(name, _FOLDER_FLAGS, dir_fd=target)
                opened.callback(os.close, inner)
            if base is not None:
                with suppress(OSError):
                    before = opened.enter_context(_open_folder(name, base))
            if before is None or before.status.st_mode & _MODE != folder.status.st_mode & _MODE:
                self.is_changed = True
            self._folder(folder.descriptor, inner, before.descriptor if before else None, path, level + 1)
            if inner is not None:
                os.fchmod(inner, folder.status.st_mode & _MODE)
        return True

    def _link(
        self, source: int, target: int | None, base: int | None, name: str, path: str, status: os.stat_result
    ) -> bool:
        try:
            where = os.readlink(name, dir_fd=source)
        except OSError as error:
            if error.errno == errno.EINVAL:
                # It has just become something else, which the next copy has.
                return False
            raise
        # Not before: one that is gone by now is in no copy.
        self._count(path, 0, status)
        if target is None:
            return True
        os.symlink(where, name, dir_fd=target)
        os.utime(name, ns=(status.st_mtime_ns, status.st_mtime_ns), dir_fd=target, follow_symlinks=False)
        before = None
        if base is not None:
            with suppress(OSError):
                before = os.readlink(name, dir_fd=base)
        if before != where:
            self.is_changed = True
        return True

    def _file(self, source: int, target: int | None, base: int | None, name: str, path: str) -> bool:
        descriptor = _opened(name, source, _FILE_FLAGS)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                self.skipped += 1
                return False
            if status.st_nlink > 1 and (first := self._links.get((status.st_dev, status.st_ino))):
                with suppress(OSError):
                    if target is not None:
                        os.link(first, name, src_dir_fd=self.target, dst_dir_fd=target, follow_symlinks=False)
                    self._count(path, 0, status)
                    return True
            self._count(path, status.st_size, status)
            if target is not None and not self._is_shared(status, target, base, name):
                self.is_changed = True
                self._copied(descriptor, status, target, name, path)
            if status.st_nlink > 1:
                self._links[status.st_dev, status.st_ino] = path
        finally:
            os.close(descriptor)
        return True

    def _is_shared(self, status: os.stat_result, target: int, base: int | None, name: str) -> bool:
        """Make the file a link to the base's, if it is the same."""
        if base is None or status.st_ctime_ns >= self.base_time_ns - _CLOCK_NS:
            return False
        with suppress(OSError):
            before = os.stat(name, dir_fd=base, follow_symlinks=False)
            if _identity(before) == _identity(status):
                os.link(name, name, src_dir_fd=base, dst_dir_fd=target, follow_symlinks=False)
                return True
        return False

    def _copied(self, descriptor: int, status: os.stat_result, target: int, name: str, path: str) -> None:
        room = os.fstatvfs(target)
        if status.st_blocks * 512 > room.f_bavail * room.f_frsize - self.reserve_bytes:
            raise RefusedError(f"there is no room for {_shown(path)} where the disk is kept")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        copy = os.open(name, flags, 0o600, dir_fd=target)
        try:
            if not _cloned(descriptor, copy):
                os.ftruncate(copy, status.st_size)
                for start, end in _data(descriptor, status.st_size):
                    _copy_range(descriptor, copy, start, end)
            os.fchmod(copy, stat.S_IMODE(status.st_mode) & _MODE)
            os.utime(copy, ns=(status.st_mtime_ns, status.st_mtime_ns))
        except OSError as error:
            if error.errno in {errno.EFBIG, errno.ENOSPC, errno.EDQUOT}:
                raise RefusedError(f"{_shown(path)} does not fit where the disk is kept: {error.strerror}") from error
            raise
        finally:
            os.close(copy)

    def _count(self, path: str, size_bytes: int, status: os.stat_result) -> None:
        self.size_bytes += size_bytes
        self.files += 1
        if self.size_bytes > self.most_bytes:
            gib = self.most_bytes / (1 << 30)
            raise RefusedError(
                f"the home has more than {gib:.3g} GiB, which is the disk's size limit; it was reached with "
                f"{_shown(path)} ({size_bytes / (1 << 30):.3g} GiB). Remove files: the snapshot before is kept"
            )
        if self.files > self.most_files:
            raise RefusedError(f"the home has more than {self.most_files} files; remove some: the one before is kept")
        self.newest_ns = max(self.newest_ns, status.st_ctime_ns)
        self.content.add(path, size_bytes, status.st_mtime)
        if self.total_bytes and time.monotonic() - self._told > _PROGRESS_SECONDS:
            self._told = time.monotonic()
            tell(percent=min(99, self.size_bytes * 100 // self.total_bytes))


def tell(**words: object) -> None:
    """Write one line for the executor."""
    sys.stdout.write(json.dumps(words) + "\n")
    sys.stdout.flush()


def save(order: dict[str, Any]) -> None:
    """Copy a home into a folder beside its final name, and give it that name at last."""
    snapshot = Path(order["snapshot"])
    partial = snapshot.with_name(snapshot.name + PARTIAL)
    snapshot.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _sweep(snapshot.parent)
    lock = _locked_folder(partial)
    try:
        copy = _copied_home(order, partial / "home")
        done = {"size_bytes": copy.size_bytes, "files": copy.files}
        if copy.is_changed:
            (partial / "snapshot.json").write_text(json.dumps(done))
            # What has a name after a crash of the machine must have its content, too.
            ctypes.CDLL(None).syncfs(lock)
            partial.rename(snapshot)
            os.fsync(os.open(snapshot.parent, _FOLDER_FLAGS))
    finally:
        if partial.exists():
            remove_tree(partial)
    content = base64.b64encode(copy.content.finish()).decode()
    tell(**done, skipped=copy.skipped, is_unchanged=not copy.is_changed, content=content)


def _locked_folder(partial: Path) -> int:
    """Make the folder and lock it, so that nobody takes it for what a killed process left."""
    # It gets its name once it is locked.
    new = partial.with_suffix(".new")
    new.mkdir(mode=0o700)
    lock = os.open(new, _FOLDER_FLAGS)
    fcntl.flock(lock, fcntl.LOCK_EX)
    new.rename(partial)
    return lock


def _copied_home(order: dict[str, Any], target: Path) -> Copy:
    target.mkdir(mode=0o700)
    base = os.open(Path(order["base"], "home"), _FOLDER_FLAGS) if order["base"] else None
    limits = {name: order[name] for name in ("base_time_ns", "most_bytes", "most_files", "reserve_bytes")}
    copy = Copy(os.open(order["home"], _FOLDER_FLAGS), os.open(target, _FOLDER_FLAGS), base, **limits)
    copy.run()
    return copy


def measure(order: dict[str, Any]) -> None:
    """Count and list what a snapshot of a home would have, within its limits, without taking one."""
    limits = {name: order[name] for name in ("most_bytes", "most_files")}
    counted = Copy(os.open(order["home"], _FOLDER_FLAGS), None, **limits)
    counted.run()
    content = base64.b64encode(counted.content.finish()).decode()
    is_unchanged = counted.newest_ns < order["base_time_ns"] - _CLOCK_NS
    done = {"size_bytes": counted.size_bytes, "files": counted.files, "skipped": counted.skipped}
    tell(**done, is_unchanged=is_unchanged, content=content)


def clean(order: dict[str, Any]) -> None:
    """Remove what no home begins with from one that nobody uses yet: special files, setuid bits, our own warnings."""
    home = str(order["home"])
    for path, folders, names, folder in os.fwalk(home, follow_symlinks=False):
        for name in (*folders, *names):
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            is_warning = path == home and _WARNING.fullmatch(name)
            if stat.S_ISDIR(status.st_mode) or stat.S_ISREG(status.st_mode):
                if is_warning and stat.S_ISREG(status.st_mode):
                    os.unlink(name, dir_fd=folder)
                elif stat.S_IMODE(status.st_mode) & ~_MODE:
                    os.chmod(name, stat.S_IMODE(status.st_mode) & _MODE, dir_fd=folder)
            elif not stat.S_ISLNK(status.st_mode):
                os.unlink(name, dir_fd=folder)
    tell(percent=100)


def restore(order: dict[str, Any]) -> None:
    """Fill an empty home with a snapshot."""
    snapshot = Path(order["snapshot"])
    try:
        known = json.loads((snapshot / "snapshot.json").read_text())
        source = os.open(snapshot / "home", _FOLDER_FLAGS)
    except FileNotFoundError as error:
        raise RefusedError(f"there is no snapshot {snapshot.name} here") from error
    target = os.open(order["home"], _FOLDER_FLAGS)
    copy = Copy(source, target, reserve_bytes=order["reserve_bytes"], total_bytes=known["size_bytes"])
    copy.run()
    if (copy.size_bytes, copy.files) != (known["size_bytes"], known["files"]):
        raise RefusedError(f"snapshot {snapshot.name} is damaged: it has {copy.files} of its {known['files']} files")
    tell(percent=100)


def main() -> None:
    """Do what is asked for; the last line says how it ended."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() == 1:
        return
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    sys.setrecursionlimit(10 * _MOST_LEVELS)
    order = json.loads(sys.stdin.read())
    try:
        {"save": save, "restore": restore, "measure": measure, "clean": clean}[sys.argv[1]](order)
    except RefusedError as refused:
        tell(refused=str(refused))
    except OSError as error:
        tell(refused=f"{error.strerror or error} ({_shown(str(error.filename or ''))})")


def _sweep(folder: Path) -> None:
    """Remove what killed processes left half done."""
    for left in folder.glob(f"*{PARTIAL}"):
        with suppress(OSError):
            lock = os.open(left, _FOLDER_FLAGS)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                remove_tree(left)
            finally:
                os.close(lock)


class _Folder(NamedTuple):
    """An open folder, and its status as its user made it."""

    descriptor: int
    status: os.stat_result


@contextmanager
def _open_folder(name: str, parent: int) -> Generator[_Folder]:
    """Open a folder; one of our own that its mode forbids to read can be read until it is closed.

    Raises FileNotFoundError or NotADirectoryError if it is a link, or is gone.
    """
    before = os.stat(name, dir_fd=parent, follow_symlinks=False)
    descriptor = _opened(name, parent, _FOLDER_FLAGS)
    try:
        status = os.fstat(descriptor)
        is_same = (status.st_dev, status.st_ino) == (before.st_dev, before.st_ino)
        # Names in it are looked up while it is walked, for which it must stay open to us.
        is_closed = os.geteuid() != 0 and is_same and before.st_mode & _READABLE != _READABLE
        if is_closed:
            os.fchmod(descriptor, before.st_mode & _MODE | _READABLE)
        try:
            yield _Folder(descriptor, before if is_same else status)
        finally:
            if is_closed:
                os.fchmod(descriptor, stat.S_IMODE(before.st_mode))
    finally:
        os.close(descriptor)


def _opened(name: str, parent: int, flags: int) -> int:
    """Open an entry without following a link; one of our own that its mode forbids to read is opened all the same.

    Raises FileNotFoundError if it is a link, or is gone.
    """
    try:
        return os.open(name, flags, dir_fd=parent)
    except PermissionError:
        handle = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
        try:
            status, itself = os.fstat(handle), Path(f"/proc/self/fd/{handle}")
            if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
                raise FileNotFoundError(errno.ENOENT, "is a link", name) from None
            mode = stat.S_IMODE(status.st_mode)
            itself.chmod(mode | stat.S_IRUSR | stat.S_IXUSR)
            try:
                return os.open(itself, flags & ~os.O_NOFOLLOW)
            finally:
                itself.chmod(mode)
        finally:
            os.close(handle)
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.ENXIO, errno.ENODEV}:
            raise FileNotFoundError(errno.ENOENT, "is a link or a device", name) from error
        raise


def _identity(status: os.stat_result) -> tuple[int, ...]:
    return (stat.S_IFMT(status.st_mode), status.st_mode & _MODE, status.st_size, status.st_mtime_ns)


def _cloned(source: int, target: int) -> bool:
    """Share the blocks, where the file system can."""
    try:
        fcntl.ioctl(target, _FICLONE, source)
    except OSError:
        return False
    return True


def _data(descriptor: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of a file that are no holes."""
    end = 0
    while end < size:
        try:
            start = os.lseek(descriptor, end, os.SEEK_DATA)
            end = min(os.lseek(descriptor, start, os.SEEK_HOLE), size)
        except OSError as error:
            if error.errno == errno.ENXIO:
                return
            raise
        if start < end:
            yield start, end


def _copy_range(source: int, target: int, start: int, end: int) -> None:
    position = start
    while position < end:
        wanted = min(_CHUNK_BYTES, end - position)
        try:
            count = os.copy_file_range(source, target, wanted, position, position)
        except OSError as error:
            if error.errno not in {errno.EXDEV, errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP}:
                raise
            count = os.pwrite(target, os.pread(source, min(wanted, 1 << 20), position), position)
        if not count:
            # It was made shorter meanwhile.
            return
        position += count


def _shown(path: str) -> str:
    """A path for people, whatever its bytes are."""
    text = path.encode(errors="surrogateescape").decode(errors="replace")
    return "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in text)[:200]


if __name__ == "__main__":
    main()
