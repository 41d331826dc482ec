"""A sandbox for a process that we do not trust: what it may see, what it may use, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import timedelta
    from pathlib import Path


Stream = Literal["stdout", "stderr"]

if TYPE_CHECKING:
    OutputListener = Callable[[Stream, bytes], None]


@dataclass(frozen=True)
class Mount:
    """A host path made visible in the sandbox; read-only unless `writable`.

    The sandbox runs as another user where we are root: the top folder of a writable mount is given to that user for as
    long as the sandbox runs, and what lies deeper is as readable in the sandbox as its permissions say.
    """

    source: Path
    target: Path
    writable: bool = False


@dataclass(frozen=True)
class Command:
    """A program to run in a sandbox, with everything that it needs to see there.

    The environment is complete: nothing of our own environment is passed on.
    Paths in `arguments` and `workdir` are those inside the sandbox.
    `devices` are device nodes of the host, such as `/dev/kfd`, that the program may read and write at the same path;
    a sandbox has no other than null, zero, full, random, urandom and tty.
    """

    arguments: Sequence[str]
    workdir: Path
    mounts: Sequence[Mount] = ()
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    devices: Sequence[Path] = ()

    @property
    def writable_folders(self) -> tuple[Path, ...]:
        """The host's side of what the command may write."""
        return tuple(mount.source for mount in self.mounts if mount.writable)


@dataclass(frozen=True)
class Limits:
    """What a sandboxed process tree may use; going over any of them ends it, but for `processes` and `output_bytes`.

    One process more than `processes` fails to start; output past `output_bytes` a stream is read and thrown away.
    `file_mib` bounds each file, all of each writable mount, and all of the sandbox's own `/tmp`.
    `cores` is how many processors' worth of time it gets in each moment; more threads than that take turns.
    """

    wall: timedelta
    cpu: timedelta
    memory_mib: int
    processes: int
    file_mib: int
    output_bytes: int
    cores: float = 4.0


@dataclass(frozen=True)
class Exit:
    """How a sandboxed process tree ended.

    `signal` is set when a signal ended it, `code` otherwise. The flags say which limit ended it, if one did.
    `stdout` and `stderr` hold at most `Limits.output_bytes` each; `output_truncated` says that more was written.
    `peak_memory_mib` is the most that the tree filled at once, and `processes_refused` says that a process or thread
    more than `Limits.processes` was tried; 0 and False also where the sandbox has nobody to count. `unkillable` says
    that processes of the tree are left, which SIGKILL did not end in time: the machine is not to be trusted any more.
    """

    code: int | None
    signal: int | None
    stdout: bytes
    stderr: bytes
    wall_exceeded: bool = False
    cpu_exceeded: bool = False
    memory_exceeded: bool = False
    files_exceeded: bool = False
    output_truncated: bool = False
    peak_memory_mib: int = 0
    processes_refused: bool = False
    unkillable: bool = False


class SandboxedProcess(Protocol):
    """A running process tree in a sandbox."""

    async def wait(self) -> Exit:
        """Wait for the end of the whole tree; safe to call more than once.

        Raises SandboxError when the sandbox broke down, which says nothing about the program.
        """
        ...

    async def kill(self) -> None:
        """End the whole tree at once; `wait` then says if anything of it is left. Safe to call after the end."""
        ...

    def owns(self, pid: int) -> bool:
        """Whether a live process, by its number here, is one of the tree's; True for all if its processes hide."""
        ...

    async def cpu_time(self) -> timedelta:
        """What all processes of the tree have used so far, by the kernel's own count; waits until it is up to date.

        Without a cgroup it is the sum over the processes that live, and over children that they have waited for, these
        in steps of a hundredth of a second.
        """
        ...


class PreparedSandbox(Protocol):
    """A sandbox that is made, in which the program has not begun; it is used once, or discarded."""

    async def start(self, on_output: OutputListener | None = None) -> SandboxedProcess:
        """Let the program begin, which takes no more than a message; the limits on time count from here.

        Raises SandboxError when the sandbox broke down while it waited.
        """
        ...

    async def discard(self) -> None:
        """Remove the sandbox; safe to call after `start`, which it undoes, and more than once."""
        ...


class Sandbox(Protocol):
    """An adapter that makes sandboxes and starts processes in them."""

    @property
    def name(self) -> str:
        """The adapter's name as it appears in settings, logs and reports, e.g. `bubblewrap`."""
        ...

    @property
    def gaps(self) -> tuple[str, ...]:
        """What its sandboxes do not hold back on this machine, one sentence each; empty if nothing."""
        ...

    async def start(
        self, command: Command, limits: Limits, on_output: OutputListener | None = None
    ) -> SandboxedProcess:
        """Start `command` under `limits`; `on_output` is told of each piece of kept output as it arrives.

        Call it from a thread that outlives the sandbox: the kernel ends the sandbox with the thread that started it.
        Raises SandboxError when the sandbox cannot be made; that is our fault and never the submission's.
        """
        ...

    async def prepare(self, command: Command, limits: Limits) -> PreparedSandbox:
        """Make the sandbox for `command` and leave its program waiting.

        All mounts must exist by now; what is put into a mounted folder before `start` is seen by the program.
        Raises SandboxError as `start` does.
        """
        ...


class SandboxError(Exception):
    """A sandbox could not be made."""
