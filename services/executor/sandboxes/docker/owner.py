"""The owner of a container that can outlive it, as text for labels, and the test for a dead owner."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

# fields of /proc/PID/stat after the command's closing parenthesis: the state, and the start in ticks since boot
_STATE, _START = 0, 19


class SandboxOwner(NamedTuple):
    """The owner's process id, valid only in one boot and pid namespace and together with its start time."""

    boot: str
    pid_namespace: str
    pid: int
    start_ticks: int

    @classmethod
    def this_process(cls) -> SandboxOwner:
        """Return the current process as an owner."""
        return cls(_boot(), _pid_namespace(), os.getpid(), _start_ticks(os.getpid()) or 0)

    @classmethod
    def from_label(cls, label: str) -> SandboxOwner | None:
        """Parse a `label`; returns None for other text."""
        try:
            boot, pid_namespace, pid, start_ticks = label.split("/")
            return cls(boot, pid_namespace, int(pid), int(start_ticks))
        except ValueError:
            return None

    @property
    def label(self) -> str:
        """The owner as one word."""
        return "/".join(map(str, self))

    @property
    def is_dead(self) -> bool:
        """True if the owner is known to be dead; False for other pid namespaces in this boot, which we cannot see."""
        if self.boot != _boot():
            return True
        return self.pid_namespace == _pid_namespace() and _start_ticks(self.pid) != self.start_ticks


def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def _pid_namespace() -> str:
    return str(Path("/proc/self/ns/pid").stat().st_ino)


def _start_ticks(pid: int) -> int | None:
    """Return the start time of a process in ticks since boot; None if it has ended, even if not yet waited for."""
    try:
        fields = Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[_STATE] in "ZX" else int(fields[_START])
