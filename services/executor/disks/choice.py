"""Where this machine keeps disks, by its setting."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from services.executor.disks.disk_store import DiskError
from services.executor.disks.folder_store import FolderStore

if TYPE_CHECKING:
    from services.executor.disks.disk_store import DiskStore

_FOLDER = "folder"


def wrong_place(setting: str) -> str:
    """Return what is wrong with the setting; empty if nothing is."""
    kind, _, place = setting.partition(":")
    if not setting:
        return ""
    if kind != _FOLDER:
        return f"is {setting!r}; give folder:PATH, or leave it empty to keep no disks"
    return "" if Path(place).is_absolute() else f"is {setting!r}; PATH must begin with /"


def disk_store(setting: str, reserve_bytes: int) -> DiskStore | None:
    """Return the store, where `reserve_bytes` stay free; None if the setting is empty. Raises DiskError."""
    _, _, place = setting.partition(":")
    try:
        return FolderStore(Path(place), reserve_bytes) if setting else None
    except OSError as error:
        raise DiskError(f"EXECUTOR_DISKS: {place} cannot be used: {error.strerror or error}") from error
