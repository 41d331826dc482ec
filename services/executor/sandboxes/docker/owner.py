"""Who made a sandbox that outlives its maker's process, as text for labels, and whether that one is dead."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

# fields of /proc/PID/stat after the command's closing parenthesis: the state, and the start in ticks since boot
_STATE, _START = 0, 19


class SandboxOwner(NamedTuple):
    """A process id means something in one boot and one pid namespace, and only together with its start time."""

    boot: str
    pid_namespace: str
    pid: int
    start_ticks: int

    @classmethod
    def this_process(cls) -> SandboxOwner:
        """Ourselves."""
        return cls(_boot(), _pid_namespace(), os.getpid(), _start_ticks(os.getpid()) or 0)

    @classmethod
    def from_label(cls, label: str) -> SandboxOwner | None:
        """The inverse of `label`; None for what is no label of ours."""
        try:
            boot, pid_namespace, pid, start_ticks = label.split("/")
            return cls(boot, pid_namespace, int(pid), int(start_ticks))
        except ValueError:
            return None

    @property
    def label(self) -> str:
        """One word."""
        return "/".join(map(str, self))

    @property
    def is_dead(self) -> bool:
        """Whether it is known to be; of other pid namespaces in this boot nothing is known."""
        if self.boot != _boot():
            return True
        return self.pid_namespace == _pid_namespace() and _start_ticks(self.pid) != self.start_ticks


def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def _pid_namespace() -> str:
    return str(Path("/proc/self/ns/pid").stat().st_ino)


def _start_ticks(pid: int) -> int | None:
    """None for a process that has ended, also if nobody has waited for it."""
    try:
        fields = Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[_STATE] in "ZX" else int(fields[_START])
