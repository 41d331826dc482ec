"""Where this machine keeps disks, by its setting."""

from __future__ import annotations

import shutil
from pathlib import Path

from services.executor.disks.restic_store import ResticStore

_FOLDER, _RESTIC = "folder", "restic"
_PROGRAMS = {"restic": "restic", "bwrap": "bubblewrap"}
"""What disks need, and the packages that have it."""


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


def disk_store(setting: str, ssh: Path | None, reserve_bytes: int) -> ResticStore | str:
    """Return the store, where `reserve_bytes` stay free, or why this machine keeps no disks. Raises DiskError."""
    if not setting:
        return "EXECUTOR_DISKS is empty"
    for program, package in _PROGRAMS.items():
        if shutil.which(program) is None:
            return f"{program} is not installed: run `apt-get install {package}` on it"
    return ResticStore(setting.partition(":")[2], ssh, reserve_bytes)
