"""Storage that cannot be used: full disks, how to see them and their errors, and a database that is away."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

NEEDED_BYTES = 256 << 10
"""Least free space of a service that is ready: some pages of a database and of its log."""
IMAGE_GB = 100
"""Free GB needed to pull an image with ROCm or CUDA: it unpacks to tens of GB, and its packed layers stay beside it
until the pull ends. An estimate; no pull was measured."""
_FULL_ERRNOS = frozenset({errno.ENOSPC, errno.EDQUOT})
_POSTGRESQL_DISK_FULL = "53100"


class DatabaseAwayError(ConnectionError):
    """The database is out of reach, restarts, or took too long: another try may go well. The message says what."""

    retry_after = timedelta(seconds=5)


def has_room(folder: Path, needed_bytes: int = NEEDED_BYTES) -> bool:
    """True if our user can write this many bytes into `folder`, or if the folder cannot be examined."""
    try:
        status = os.statvfs(folder)
    except OSError:
        return True
    blocks, entries = (status.f_bfree, status.f_ffree) if os.geteuid() == 0 else (status.f_bavail, status.f_favail)
    has_entries = entries > 0 or status.f_files == 0
    return has_entries and blocks * status.f_frsize >= needed_bytes


def says_full(error: BaseException) -> bool:
    """True if the error, or one that it wraps, is caused by a full disk: ours, SQLite's or PostgreSQL's."""
    return any(map(_is_full, with_causes(error)))


def _is_full(error: BaseException) -> bool:
    if isinstance(error, OSError):
        return error.errno in _FULL_ERRNOS
    if isinstance(error, sqlite3.Error):
        return getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
    return getattr(error, "sqlstate", None) == _POSTGRESQL_DISK_FULL


def with_causes(error: BaseException) -> Iterator[BaseException]:
    """The error, what caused it, and so on."""
    seen: set[int] = set()
    next_one: BaseException | None = error
    while next_one is not None and id(next_one) not in seen:
        seen.add(id(next_one))
        yield next_one
        next_one = next_one.__cause__
