"""A folder for one run that is removed afterwards, even if the process that made it was killed.

Its owner holds a lock on it. Folders without a lock are left-overs, which the next process removes.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
from pathlib import Path
from types import TracebackType

from services.executor.sandboxes.limits.file_tree import remove_tree

_PREFIX = "wavepool-run-"
# Processes that start at the same time may take a new folder for a left-over at most this often in a row.
_MOST_SWEEPS = 20
_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108  a folder of random name is made in it


class ScratchFolder:
    """A context manager: a private folder in `parent`."""

    def __init__(self, parent: Path) -> None:
        self.path, self._lock = _own_folder(parent)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()

    def remove(self) -> None:
        """Remove the folder with all that is in it."""
        remove_tree(self.path)
        os.close(self._lock)


def memory_parent(otherwise: Path) -> Path:
    """The folder for files in memory, if there is one, else `otherwise`; programs may not be executable there."""
    return _SHARED_MEMORY if os.access(_SHARED_MEMORY, os.W_OK | os.X_OK) else otherwise


def sweep(parent: Path) -> None:
    """Remove the folders that killed processes left in `parent`."""
    for folder in parent.glob(f"{_PREFIX}*"):
        lock = _locked(folder)
        if lock is not None:
            remove_tree(folder)
            os.close(lock)


def _own_folder(parent: Path) -> tuple[Path, int]:
    """Makes a folder and locks it; if another process removes the folder before it is locked, makes another."""
    for _ in range(_MOST_SWEEPS):
        path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
        lock = _locked(path)
        if lock is None:
            continue
        if path.is_dir():
            return path, lock
        os.close(lock)
    raise OSError(f"cannot keep a folder below {parent}: others remove it; set TMPDIR to a folder of its own")


def _locked(folder: Path) -> int | None:
    """A descriptor that holds the lock of `folder`; None if the lock cannot be had."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            raise
        return descriptor
    return None
