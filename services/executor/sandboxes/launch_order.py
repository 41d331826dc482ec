"""The launcher's orders and reports, which travel as JSON lines over its control socket."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import NamedTuple

GO = b"\n"
"""The word that the program's process waits for on its stdin; a dead owner never sends it."""


class Hold(StrEnum):
    """A restriction that the launcher may get from this kernel for the sandbox."""

    NAMESPACES = "namespaces"
    """Private network, process ids, mounts, IPC and host name."""

    PRIVATE_ROOT = "private_root"
    LANDLOCK = "landlock"
    LANDLOCK_SIGNALS = "landlock_signals"
    SECCOMP = "seccomp"
    OWN_USER = "own_user"


class LaunchOrder(NamedTuple):
    """An order for one sandbox; `mounts` are (source, target, writable), `resources` are (RLIMIT_…, soft, hard).

    It is a tuple and not a dataclass because the launcher starts for every sandbox, and dataclasses take 9 ms to
    import.
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
    """Holds to leave out, in tests of weaker sandboxes."""

    def encode(self) -> bytes:
        """Return the order as one line of JSON."""
        return json.dumps(self._asdict()).encode() + b"\n"

    @classmethod
    def decode(cls, line: bytes) -> LaunchOrder:
        """Return the order from a line of `encode`."""
        return cls(**json.loads(line))
