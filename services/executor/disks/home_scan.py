"""Looks through homes: `home_scan measure|clean`; stdin says what to do.

Hostile people may be changing a home while it is measured. This is a process of its own, so that it can be killed at
any moment and holds nobody up. Folders are walked by their open descriptors, and no link is followed: whatever is put
in the way meanwhile, nothing outside of the home is looked at or changed.
"""

from __future__ import annotations

import base64
import ctypes
import hashlib
import json
import os
import re
import resource
import signal
import stat
import sys
import zlib
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CONTENT_BYTES = 128 << 10
"""Most bytes of the compressed list of a snapshot's files."""
_MOST_LEVELS = 2000
"""A path has at most 4,096 bytes, so programs that go by names reach no further. Each level holds two descriptors."""
_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_MODE = 0o1777
"""Of a file's mode, what is kept."""
_READABLE = stat.S_IRUSR | stat.S_IXUSR
_CLOCK_NS = 12_000_000
"""How far the times that a kernel gives to files lag behind its clock, at most: a tick of 100 Hz, and a little."""
_BLOCK_BYTES = 512
_PR_SET_PDEATHSIG = 1
_WARNING = re.compile(r"WARN_EXPIRES_IN_\d+MIN\.txt")
"""The session's own files at the top of a home, which say nothing to the next session."""


class RefusedError(Exception):
    """No snapshot is taken; the message says why, to the disk's owner."""


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
class Measure:
    """What a snapshot of a home has, as far as the home has been walked."""

    most_bytes: int
    most_files: int
    base_time_ns: int
    """When the home was the same as the snapshot before; 0 if there is none."""
    size_bytes: int = 0
    files: int = 0
    skipped: int = 0
    changed_bytes: int = 0
    """What files take that were touched since then."""
    newest_ns: int = 0
    """When something below the top was last touched, by the kernel's clock, which nobody can set."""
    content: ContentList = field(default_factory=ContentList)
    _links: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])

    @property
    def unchanged_before_ns(self) -> int:
        """What was touched before this moment is in the snapshot before."""
        return self.base_time_ns - _CLOCK_NS

    def walk(self, home: int) -> None:
        """Measure an open home; raises RefusedError, OSError."""
        self._device = os.fstat(home).st_dev
        self._folder(home, "", 0)

    def _folder(self, folder: int, path: str, level: int) -> None:
        if level > _MOST_LEVELS:
            raise RefusedError(
                f"more than {_MOST_LEVELS} folders are nested: {_shown(path)}. Remove some: the one before is kept"
            )
        for name in sorted(os.listdir(folder)):
            if level or not _WARNING.fullmatch(name):
                with suppress(FileNotFoundError, NotADirectoryError):
                    self._entry(folder, name, f"{path}/{name}" if path else name, level)
        if level:
            self.newest_ns = max(self.newest_ns, os.fstat(folder).st_ctime_ns)

    def _entry(self, folder: int, name: str, path: str, level: int) -> None:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if stat.S_ISDIR(status.st_mode) and status.st_dev == self._device:
            with _open_folder(name, folder) as (inner, inner_status):
                self._count(f"{path}/", 0, inner_status)
                self._folder(inner, path, level + 1)
        elif stat.S_ISLNK(status.st_mode):
            self._count(path, 0, status)
        elif stat.S_ISREG(status.st_mode):
            self._file(path, status)
        else:
            self.skipped += 1

    def _file(self, path: str, status: os.stat_result) -> None:
        if status.st_nlink > 1:
            if (status.st_dev, status.st_ino) in self._links:
                self._count(path, 0, status)
                return
            self._links.add((status.st_dev, status.st_ino))
        if status.st_ctime_ns >= self.unchanged_before_ns:
            self.changed_bytes += status.st_blocks * _BLOCK_BYTES
        self._count(path, status.st_size, status)

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


def top_of(home: int) -> str:
    """Return a word that changes with the names at the top of a home.

    A folder's `ctime` says nothing there: the top is given to the session's user, and taken back at its end.
    """
    time_ns = os.fstat(home).st_mtime_ns
    names = "\0".join(sorted(name for name in os.listdir(home) if not _WARNING.fullmatch(name)))
    return f"{time_ns}-{hashlib.sha256(os.fsencode(names)).hexdigest()}"


def measure(home: int, base_top: str, order: dict[str, int]) -> dict[str, object]:
    """Count and list what a snapshot of a home would have, within its limits."""
    counted = Measure(order["most_bytes"], order["most_files"], order["base_time_ns"])
    # It is what the snapshot has at least: names that come or go from now on change it.
    top = top_of(home)
    counted.walk(home)
    numbers = {name: getattr(counted, name) for name in ("size_bytes", "files", "skipped", "changed_bytes")}
    content = base64.b64encode(counted.content.finish()).decode()
    is_unchanged = top == base_top and counted.newest_ns < counted.unchanged_before_ns
    return {**numbers, "is_unchanged": is_unchanged, "top": top, "content": content}


def clean(home: str) -> dict[str, object]:
    """Remove what no home begins with from one that nobody uses yet: special files, setuid bits, our own warnings."""
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
    return {"top": top_of(os.open(home, _FOLDER_FLAGS))}


def main() -> None:
    """Do what is asked for, and write how it ended."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() == 1:
        return
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    sys.setrecursionlimit(10 * _MOST_LEVELS)
    order: dict[str, Any] = json.loads(sys.stdin.read())
    home = str(order["home"])
    try:
        if sys.argv[1] == "measure":
            answer = measure(os.open(home, _FOLDER_FLAGS | os.O_NOFOLLOW), order["base_top"], order)
        else:
            answer = clean(home)
    except RefusedError as refused:
        answer = {"refused": str(refused)}
    except OSError as error:
        answer = {"refused": f"{error.strerror or error} ({_shown(str(error.filename or ''))})"}
    sys.stdout.write(json.dumps(answer))


@contextmanager
def _open_folder(name: str, parent: int) -> Generator[tuple[int, os.stat_result]]:
    """Open a folder, and give its status; one of our own that its mode forbids to read can be read until it is closed.

    Raises FileNotFoundError or NotADirectoryError if it is a link, or is gone.
    """
    handle = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
    try:
        status, itself = os.fstat(handle), Path(f"/proc/self/fd/{handle}")
        is_closed = os.geteuid() != 0 and status.st_mode & _READABLE != _READABLE
        if is_closed:
            itself.chmod(stat.S_IMODE(status.st_mode) | _READABLE)
        try:
            descriptor = os.open(itself, _FOLDER_FLAGS)
            try:
                yield descriptor, status
            finally:
                os.close(descriptor)
        finally:
            if is_closed:
                itself.chmod(stat.S_IMODE(status.st_mode))
    finally:
        os.close(handle)


def _shown(path: str) -> str:
    """A path for people, whatever its bytes are."""
    text = path.encode(errors="surrogateescape").decode(errors="replace")
    return "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in text)[:200]


if __name__ == "__main__":
    main()
