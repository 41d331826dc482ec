"""Snapshots as folders, for machines whose storage lasts or that share it."""

from __future__ import annotations

import asyncio
import base64
import re
import secrets
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from servicekit.whole_file import write_whole
from services.executor.disks import home_copy
from services.executor.disks.copy_process import run_copy
from services.executor.disks.disk_store import DiskError, Snapshot
from services.executor.sandboxes.limits.file_tree import remove_tree

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from services.executor.disks.disk_store import Base, DiskLimits, DiskOwner, OnPercent

_SNAPSHOT_ID = re.compile(r"[0-9a-z-]{1,80}")
_STORE_ID = "store-id"


class FolderStore:
    """Keeps each snapshot as a folder below `folder`; `reserve_bytes` stay free there.

    What has not changed since the snapshot before is shared with it by hard links.
    """

    name = "folder"

    def __init__(self, folder: Path, reserve_bytes: int = 0) -> None:
        """Raises OSError if the folder cannot be made."""
        self._folder = folder
        self._reserve_bytes = reserve_bytes
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.store_id = _store_id(folder / _STORE_ID)

    async def save(self, owner: DiskOwner, home: Path, limits: DiskLimits, base: Base | None) -> Snapshot:
        """Take a snapshot; raises DiskError."""
        before = self._where(owner, base.snapshot_id) if base else None
        snapshot_id = f"{datetime.now(UTC):%Y%m%dt%H%M%S}-{secrets.token_hex(6)}"
        done = await run_copy(
            "save",
            lambda _: None,
            home=str(home),
            snapshot=str(self._where(owner, snapshot_id)),
            base=str(before) if before and before.is_dir() else "",
            base_time_ns=base.time_ns if base else 0,
            most_bytes=limits.size_bytes,
            most_files=limits.files,
            reserve_bytes=self._reserve_bytes,
        )
        is_unchanged = bool(done["is_unchanged"]) and base is not None
        return Snapshot(
            snapshot_id=base.snapshot_id if base and is_unchanged else snapshot_id,
            size_bytes=int(done["size_bytes"]),
            files=int(done["files"]),
            skipped=int(done["skipped"]),
            is_unchanged=is_unchanged,
            content=base64.b64decode(done["content"]),
        )

    async def restore(self, owner: DiskOwner, snapshot_id: str, home: Path, on_percent: OnPercent) -> None:
        """Fill an empty home; raises DiskError."""
        where = str(self._where(owner, snapshot_id))
        await run_copy("restore", on_percent, home=str(home), snapshot=where, reserve_bytes=self._reserve_bytes)

    async def remove(self, owner: DiskOwner, snapshot_ids: Sequence[str]) -> None:
        """Remove snapshots."""
        for snapshot_id in snapshot_ids:
            where = self._where(owner, snapshot_id)
            gone = where.with_name(where.name + home_copy.PARTIAL)
            with suppress(FileNotFoundError):
                # Nobody restores it from now on, and if we are killed, the next snapshot removes the rest.
                where.rename(gone)
                await asyncio.to_thread(remove_tree, gone)

    def _where(self, owner: DiskOwner, snapshot_id: str) -> Path:
        if not _SNAPSHOT_ID.fullmatch(snapshot_id):
            raise DiskError(f"{snapshot_id[:80]!r} is no id of a snapshot here")
        return self._folder / owner.folder_name / snapshot_id


def _store_id(path: Path) -> str:
    """Return the id in the file, which is made if it does not exist."""
    with suppress(FileNotFoundError):
        return path.read_text().strip()
    write_whole(path, f"folder-{secrets.token_hex(8)}\n".encode())
    return path.read_text().strip()
