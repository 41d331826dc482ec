"""Keeps the last target of each machine on disk, so that a new process need not wait for the provider."""

from __future__ import annotations

from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from servicekit.whole_file import write_whole
from services.vmpool.providers.ssh.tunnels import SshTarget

_TARGETS = TypeAdapter(SshTarget)


class KnownTargets:
    """Keeps one file for each machine."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._kept: dict[str, SshTarget] = {}

    def keep(self, machine_id: str, target: SshTarget) -> None:
        """Write down the machine's target, if it is new."""
        if self._kept.get(machine_id) != target:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_whole(self._path(machine_id), _TARGETS.dump_json(target))
            self._kept[machine_id] = target

    def of(self, machine_id: str) -> SshTarget | None:
        """The machine's last target; None if no valid one is kept."""
        try:
            return _TARGETS.validate_json(self._path(machine_id).read_bytes())
        except (FileNotFoundError, ValidationError):
            return None

    def forget(self, machine_id: str) -> None:
        """Forget a machine that is over."""
        self._kept.pop(machine_id, None)
        self._path(machine_id).unlink(missing_ok=True)

    def _path(self, machine_id: str) -> Path:
        return self._folder / f"{machine_id}.json"
