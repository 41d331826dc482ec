"""Snapshots of homes.

A snapshot is whole or absent: nobody can restore one that is being written, whoever is killed meanwhile. It never
changes. Which of them is a disk's last is not known here; the scheduler keeps that.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field


class DiskError(Exception):
    """A snapshot cannot be taken or restored; the message says why, to the disk's owner."""


@dataclass(frozen=True)
class DiskOwner:
    """Whose snapshots they are, and the password that encrypts them."""

    owner_id: str
    password: str = field(repr=False)

    @property
    def folder_name(self) -> str:
        """Names the owner's folder, whatever characters the id has."""
        return hashlib.sha256(self.owner_id.encode()).hexdigest()[:32]


@dataclass(frozen=True)
class DiskLimits:
    """The most bytes and files of a snapshot."""

    size_bytes: int
    files: int


@dataclass(frozen=True)
class Base:
    """The snapshot that a home was the same as at a time, in nanoseconds since 1970 of this machine's clock.

    `top` changes with the names at the home's top.
    """

    snapshot_id: str
    time_ns: int
    top: str


@dataclass(frozen=True)
class Snapshot:
    """A snapshot that is whole.

    `content` is a list of its files, compressed and perhaps cut. If nothing has changed since its base, it is the base,
    and `is_unchanged` is true. `skipped` counts sockets and the like, which no snapshot has.
    `top` is for the next one's base.
    """

    snapshot_id: str
    size_bytes: int
    files: int
    skipped: int
    is_unchanged: bool
    content: bytes
    top: str
