"""Keeps the last target of each machine on disk, so that a new process need not wait for the provider."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from servicekit.whole_file import write_whole
from services.vmpool.providers.ssh.tunnels import SshTarget


class KnownTargets:
    """Keeps one file for each machine."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._kept: dict[str, SshTarget] = {}

    def keep(self, machine_id: str, target: SshTarget) -> None:
        """Write down the machine's target, if it is new."""
        if self._kept.get(machine_id) != target:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_whole(self._path(machine_id), json.dumps(asdict(target)).encode())
            self._kept[machine_id] = target

    def of(self, machine_id: str) -> SshTarget | None:
        """The machine's last target; None if no valid one is kept."""
        try:
            return _target(json.loads(self._path(machine_id).read_bytes()))
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return None

    def forget(self, machine_id: str) -> None:
        """Forget a machine that is over."""
        self._kept.pop(machine_id, None)
        self._path(machine_id).unlink(missing_ok=True)

    def _path(self, machine_id: str) -> Path:
        return self._folder / f"{machine_id}.json"


def _target(kept: Mapping[str, Any]) -> SshTarget:
    jump = kept["jump"]
    return SshTarget(
        str(kept["host"]),
        int(kept["ssh_port"]),
        str(kept["username"]),
        int(kept["executor_port"]),
        None if jump is None else _target(jump),
    )
