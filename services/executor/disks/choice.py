"""Where this machine keeps disks, by its setting."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from services.executor.disks.disk_store import DiskError
from services.executor.disks.folder_store import FolderStore
from services.executor.disks.restic_store import ResticStore

if TYPE_CHECKING:
    from services.executor.disks.disk_store import DiskStore

_FOLDER, _RESTIC = "folder", "restic"


def wrong_place(setting: str, ssh: Path | None) -> str:
    """Return what is wrong with the setting, beside the folder for ssh; empty if nothing is."""
    kind, _, place = setting.partition(":")
    if not setting:
        return ""
    if kind not in {_FOLDER, _RESTIC} or not place:
        return f"is {setting!r}; give folder:PATH or restic:PLACE, or leave it empty to keep no disks"
    if kind == _FOLDER and not Path(place).is_absolute():
        return f"is {setting!r}; PATH must begin with /"
    if kind == _RESTIC and not place.startswith("/") and ":" not in place:
        return f"is {setting!r}; PLACE must be a path that begins with /, or an address such as s3:https://HOST/BUCKET"
    if place.startswith("sftp:") and ssh is None:
        return (
            f"is {setting!r}; name a folder in EXECUTOR_DISKS_SSH with a private key, `id`, and with the server's "
            "host key, `known_hosts`"
        )
    return ""


def disk_store(setting: str, ssh: Path | None, reserve_bytes: int) -> DiskStore | None:
    """Return the store, where `reserve_bytes` stay free; None if the setting is empty. Raises DiskError."""
    kind, _, place = setting.partition(":")
    if kind == _RESTIC:
        return ResticStore(place, ssh)
    try:
        return FolderStore(Path(place), reserve_bytes) if setting else None
    except OSError as error:
        raise DiskError(f"EXECUTOR_DISKS: {place} cannot be used: {error.strerror or error}") from error
