"""A sandbox for an untrusted process: the command, its limits, and how it ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Literal, Protocol

Stream = Literal["stdout", "stderr"]
OutputListener = Callable[[Stream, bytes], None]


@dataclass(frozen=True)
class Mount:
    """A host path made visible in the sandbox; read-only unless `writable`.

    If we are root, the sandbox runs as another user: the top folder of a writable mount belongs to that user while the
    sandbox runs, and deeper files are as readable in the sandbox as their permissions say. One that is not counted may
    hold more than the limits say: the maker of the command watches it.
    """

    source: Path
    target: Path
    writable: bool = False
    is_counted: bool = True


@dataclass(frozen=True)
class Command:
    """A program to run in a sandbox, with everything that it needs to see there.

    The environment is complete: nothing of our own environment is passed on. Paths in `arguments` and `workdir` are
    those inside the sandbox. `devices` are device nodes of the host, such as `/dev/kfd`, that the program may read and
    write at the same path; the only others in a sandbox are null, zero, full, random, urandom and tty.
    """

    arguments: Sequence[str]
    workdir: Path
    mounts: Sequence[Mount] = ()
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    devices: Sequence[Path] = ()

    @property
    def writable_folders(self) -> tuple[Path, ...]:
        """The host's folders that the command may write to, and that the limits count."""
        return tuple(mount.source for mount in self.mounts if mount.writable and mount.is_counted)


@dataclass(frozen=True)
class Limits:
    """Limits of a sandboxed process tree; exceeding any but `processes` and `output_bytes` ends it.

    A process beyond `processes` fails to start; output of a stream past `output_bytes` is read and dropped. `file_mib`
    bounds each file, each writable mount as a whole, and the sandbox's own `/tmp`. `cores` is how many processors'
    worth of time the tree gets; more threads than that take turns. If `busy_wall` is set, `wall` grows by the time that
    processes of the machine wait for processors, up to `busy_wall`, or is `busy_wall` if nothing measures that.
    """

    wall: timedelta
    cpu: timedelta
    memory_mib: int
    processes: int
    file_mib: int
    output_bytes: int
    cores: float = 4.0
    busy_wall: timedelta | None = None


@dataclass(frozen=True)
class Exit:
    """The end of a sandboxed process tree.

    `signal` is set if a signal ended it, `code` otherwise. The flags say which limit ended it, if one did. `stdout` and
    `stderr` hold at most `Limits.output_bytes` each; `output_truncated` is True if there was more. `peak_memory_mib` is
    the peak memory use of the tree, and `processes_refused` is True if it tried to start more than `Limits.processes`;
    they stay 0 and False if nothing counts them. `unkillable` is True if SIGKILL did not end all processes in time: the
    machine cannot be trusted any more.
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

        Raises SandboxError if the sandbox broke down, which says nothing about the program.
        """
        ...

    async def kill(self) -> None:
        """End the whole tree at once; `wait` then reports if anything is left. Safe to call after the end."""
        ...

    def owns(self, pid: int) -> bool:
        """Return True if the live process `pid` belongs to the tree; True for all if its processes are hidden."""
        ...

    async def cpu_time(self) -> timedelta:
        """Return the kernel's count of the processor time of all processes of the tree, once it is up to date.

        Without a cgroup it is the sum over live processes and over children that they have waited for, the latter in
        steps of a hundredth of a second.
        """
        ...


class PreparedSandbox(Protocol):
    """A sandbox that is made, but whose program has not begun; it is used once, or discarded."""

    async def start(self, on_output: OutputListener | None = None) -> SandboxedProcess:
        """Let the program begin, which takes only a message; the limits on time count from here.

        Raises SandboxError if the sandbox broke down while it waited.
        """
        ...

    async def discard(self) -> None:
        """Remove the sandbox; safe to call more than once, and after `start`, whose program it ends."""
        ...


class Sandbox(Protocol):
    """An adapter that makes sandboxes and starts processes in them."""

    @property
    def name(self) -> str:
        """The adapter's name as it appears in settings, logs and reports, e.g. `bubblewrap`."""
        ...

    @property
    def gaps(self) -> tuple[str, ...]:
        """Gaps of the sandboxes on this machine, one sentence each."""
        ...

    async def start(
        self, command: Command, limits: Limits, on_output: OutputListener | None = None
    ) -> SandboxedProcess:
        """Start `command` under `limits`; `on_output` gets each piece of kept output as it arrives.

        Call it from a thread that outlives the sandbox: the kernel ends the sandbox with the thread that started it.
        Raises SandboxError if the sandbox cannot be made; this is always our fault and never the submission's.
        """
        ...

    async def prepare(self, command: Command, limits: Limits) -> PreparedSandbox:
        """Make the sandbox for `command` and leave its program waiting.

        All mounts must exist; the program also sees files that are put into a mounted folder before `start`. Raises
        SandboxError as `start` does.
        """
        ...


class SandboxError(Exception):
    """A sandbox could not be made."""
