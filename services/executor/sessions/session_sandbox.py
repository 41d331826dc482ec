"""The interface of sandboxes for sessions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from services.executor.images.image_store import Image
from services.executor.sessions.gang.gang import Gang
from services.executor.sessions.share import Share
from vocabulary.ssh_keys import Key

Report = Mapping[str, object]
OnReport = Callable[[Report], None]


class SessionGap(StrEnum):
    """Something that a session's sandbox does not hold back, as a sentence for people."""

    DISK = "a session can use more of the disk than its share: it is warned, and ended if the machine's disk runs short"
    MEMORY = "a session can use all memory of this machine: the kernel does not limit it to its share"
    CPU = "a session can fill all processors of this machine: the kernel does not limit it to its share"
    SYSTEM_CALLS = "system calls of a session are not filtered"


@dataclass(frozen=True, kw_only=True)
class SandboxOrder:
    """What a session's sandbox is made from.

    `home` is the host's folder that becomes the home; None for an empty one that is removed at the end. `welcome` is
    what people read at their login, `disk_bytes` the session's share of the disk. `devices` are numbers of the
    machine's devices. `software` has the versions that `software_of` gives. `gpus` is the number of its GPUs. `gang`
    says which node of which others it is; None if it is alone.
    With an `image` its files are the root, else the machine's own; with `runs_command` its command can be started.
    """

    session_id: str
    keys: Sequence[Key]
    environment: Mapping[str, str]
    share: Share
    welcome: str
    end_time: datetime
    disk_bytes: int
    devices: Sequence[int] = ()
    home: Path | None = None
    software: Mapping[str, str] = field(default_factory=dict[str, str])
    gpus: int = 0
    gang: Gang | None = None
    image: Image | None = None
    runs_command: bool = False


class OpenSandbox(Protocol):
    """A session's sandbox, whose first program (`access/sandboxed/supervisor.py`) takes orders."""

    @property
    def host_key(self) -> str:
        """The public host key."""
        ...

    @property
    def start_time_ns(self) -> int:
        """When its first program began, in nanoseconds since 1970."""
        ...

    @property
    def killed_for_memory(self) -> int:
        """Number of processes that the kernel has killed for lack of memory; 0 if nothing counts them."""
        ...

    def write_keys(self, keys: Sequence[Key]) -> None:
        """Replace the keys that open the session, at once."""
        ...

    def write_end(self, end_time: datetime) -> None:
        """Replace the end of the session, as it is shown at a login."""
        ...

    def used_bytes(self) -> int:
        """Count what the session has written to the disk; takes as long as its files are many."""
        ...

    def send(self, order: Report, descriptor: int | None = None) -> None:
        """Give an order, with an open file; raises SilentSessionError."""
        ...

    def wake(self) -> None:
        """Let programs go on that somebody has stopped, the first one among them: it is to take an order."""
        ...

    async def wait(self) -> str:
        """Wait until the first program has ended; returns what it said last, for an operator."""
        ...

    async def destroy(self) -> bool:
        """End everything and remove the session's files; returns False if there are processes that do not end."""
        ...


class SessionSandbox(Protocol):
    """An adapter that makes sandboxes for sessions."""

    @property
    def name(self) -> str:
        """The adapter's name, such as `bubblewrap`."""
        ...

    @property
    def has_network(self) -> bool:
        """True if sessions reach the internet."""
        ...

    @property
    def gaps(self) -> tuple[str, ...]:
        """What the sandboxes do not hold back on this machine, one sentence each."""
        ...

    def no_gang_because(self, gang: Gang) -> str:
        """Why no node of this gang can be here; empty if one can."""
        ...

    async def open(self, order: SandboxOrder, on_report: OnReport) -> OpenSandbox:
        """Make the sandbox and start its first program, whose reports go to `on_report`; raises SandboxError."""
        ...
