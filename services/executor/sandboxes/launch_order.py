"""What the launcher is told to start, and what it reports; both travel as JSON lines over its control socket."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import NamedTuple

GO = b"\n"
"""What the program's process waits for on its stdin; a dead owner never says it."""


class Hold(StrEnum):
    """A hold on the sandbox that the launcher could get from this kernel."""

    NAMESPACES = "namespaces"
    """Own network, process ids, mounts, IPC and host name."""

    PRIVATE_ROOT = "private_root"
    LANDLOCK = "landlock"
    LANDLOCK_SIGNALS = "landlock_signals"
    SECCOMP = "seccomp"
    OWN_USER = "own_user"


class LaunchOrder(NamedTuple):
    """One sandbox; `mounts` are (source, target, writable), `resources` are (RLIMIT_…, soft, hard).

    A tuple and not a dataclass, as the launcher starts for every sandbox and dataclasses take 9 ms to import.
    """

    parent_pid: int
    arguments: list[str]
    workdir: str
    environment: dict[str, str]
    mounts: list[tuple[str, str, bool]]
    scratch: str
    tmp_bytes: int
    resources: list[tuple[int, int, int]]
    processes: int
    procs_files: list[str]
    uid: int | None
    devices: list[str]
    groups: list[int]
    """Groups that may use the devices."""
    forgo: list[Hold]
    """Holds not to try; for tests of the weaker sandboxes."""

    def encode(self) -> bytes:
        """One line."""
        return json.dumps(self._asdict()).encode() + b"\n"

    @classmethod
    def decode(cls, line: bytes) -> LaunchOrder:
        """The inverse of `encode`."""
        return cls(**json.loads(line))
