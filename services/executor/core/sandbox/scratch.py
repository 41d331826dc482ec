"""A folder for one run that is gone afterwards, even if the process that made it was killed.

Its owner holds a lock on it; folders that nobody holds are left-overs, and the next process sweeps them away.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from services.executor.sandboxes.limits.file_tree import remove_tree

if TYPE_CHECKING:
    from types import TracebackType

_PREFIX = "wavepool-run-"
# How often in a row a new folder may be taken for a left-over by processes that start at the same time.
_MOST_SWEEPS = 20
_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108  a folder of random name is made in it


class ScratchFolder:
    """A context manager: a private folder below `parent`."""

    def __init__(self, parent: Path) -> None:
        self.path, self._lock = _own_folder(parent)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        remove_tree(self.path)
        os.close(self._lock)


def memory_parent(otherwise: Path) -> Path:
    """Where files live in memory, if there is such a place; programs may not be executable there."""
    return _SHARED_MEMORY if os.access(_SHARED_MEMORY, os.W_OK | os.X_OK) else otherwise


def sweep(parent: Path) -> None:
    """Remove the folders that killed processes left below `parent`."""
    for folder in parent.glob(f"{_PREFIX}*"):
        lock = _locked(folder)
        if lock is not None:
            remove_tree(folder)
            os.close(lock)


def _own_folder(parent: Path) -> tuple[Path, int]:
    """A new folder and the lock on it; one that another process swept away before it was locked does not count."""
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
    """A descriptor that holds the lock of `folder`, or None where another process holds it."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            raise
        return descriptor
    return None
