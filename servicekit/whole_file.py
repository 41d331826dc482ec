"""Writes files atomically: to a temporary name first, renamed when complete."""

from __future__ import annotations

import os
from pathlib import Path


def write_whole(path: Path, content: bytes, *, durable: bool = True) -> None:
    """Writes a file that only its owner may read; readers see all of the old content or all of the new.

    If `durable`, the file also survives a crash of the host, at the cost of waiting for the disk.
    """
    partial = path.with_name(f"{path.name}.partial")
    try:
        with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        partial.replace(path)
    except OSError:
        partial.unlink(missing_ok=True)
        raise
    if durable:
        _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Syncs the folder; otherwise a crash may undo the rename."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
