"""The interface of places where snapshots of homes are kept.

A snapshot is whole or absent: nobody can restore one that is being written, whoever is killed meanwhile. It never
changes. Which of them is a disk's last is not known here; the scheduler keeps that.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    OnPercent = Callable[[int], None]


class DiskError(Exception):
    """A snapshot cannot be taken or restored; the message says why, to the disk's owner."""


@dataclass(frozen=True)
class DiskOwner:
    """Whose snapshots they are, and the password that encrypts them where they are encrypted."""

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
    """The snapshot that a home was the same as at a time, in nanoseconds since 1970 of this machine's clock."""

    snapshot_id: str
    time_ns: int


@dataclass(frozen=True)
class Snapshot:
    """A snapshot that is whole.

    `content` is a list of its files, compressed and perhaps cut. If nothing has changed since its base, it is the base,
    and `is_unchanged` is true. `skipped` counts sockets and the like, which no snapshot has.
    """

    snapshot_id: str
    size_bytes: int
    files: int
    skipped: int
    is_unchanged: bool
    content: bytes


class DiskStore(Protocol):
    """An adapter that keeps snapshots. A call that is cancelled ends its work and leaves nothing that counts."""

    @property
    def name(self) -> str:
        """The adapter's name, such as `folder`."""
        ...

    @property
    def store_id(self) -> str:
        """Tells places apart: a snapshot can be restored from the place alone where it was taken."""
        ...

    async def save(self, owner: DiskOwner, home: Path, limits: DiskLimits, base: Base | None) -> Snapshot:
        """Take a snapshot of a home, which its users may be changing meanwhile; raises DiskError."""
        ...

    async def restore(self, owner: DiskOwner, snapshot_id: str, home: Path, on_percent: OnPercent) -> None:
        """Fill an empty home with a snapshot, as files of our own user; raises DiskError."""
        ...

    async def remove(self, owner: DiskOwner, snapshot_ids: Sequence[str]) -> None:
        """Remove snapshots; those that are not there count as removed. Raises DiskError."""
        ...
