"""The processes of one Docker sandbox."""

from __future__ import annotations

import asyncio
import signal
from asyncio import StreamWriter
from pathlib import Path

from services.executor.sandboxes.child import ProcessEnd
from services.executor.sandboxes.docker.counters import ContainerCounters
from services.executor.sandboxes.docker.engine import DockerEngine
from services.executor.sandboxes.exit_status import ExitWitness, wait_status_of
from services.executor.sandboxes.process_tree import children, is_below
from services.executor.sandboxes.sandbox import SandboxError

_WORD = b"\n"
# The kernel tells how a process ended once its parent has waited for it; that parent does nothing else.
_REAPING_ATTEMPTS = 200
_REAPING_INTERVAL_SECONDS = 0.001


class DockerTree:
    """Implements ProcessTree; the end of the container's first process ends all processes in it."""

    def __init__(self, engine: DockerEngine, name: str, control: StreamWriter) -> None:
        self._engine = engine
        self._name = name
        self._control = control
        self._program: ProcessEnd | None = None
        self._witness: ExitWitness | None = None
        self._counters: ContainerCounters | None = None
        self._destroyed = False
        self._first_pid: int | None = None

    def watch(self, init_pid: int, counters: ContainerCounters, *, witnessed: bool) -> None:
        """Watch the program once the sandbox is made; if `witnessed`, through its process, a child of `init_pid`."""
        self._counters = counters
        self._first_pid = init_pid if witnessed else None
        if witnessed:
            [pid] = children(init_pid)
            self._program = ProcessEnd(pid)
            self._witness = ExitWitness(pid)

    def release(self) -> bool:
        """Let the program begin; returns False if the sandbox has ended meanwhile."""
        if self._control.is_closing() or (self._program is not None and self._program.has_come):
            return False
        self._control.write(_WORD)
        return True

    async def wait_status(self) -> int:
        """Wait for the end of the program and return its wait status."""
        if self._program is not None and self._witness is not None:
            await self._program.wait()
            if (status := await _reported(self._witness)) is not None:
                return status
            self._control.write(_WORD)
        try:
            return wait_status_of(await self._end_of_container())
        except SandboxError:
            if self._destroyed:
                return signal.SIGKILL
            raise

    async def destroy(self) -> None:
        """Kill the remaining processes and remove the container."""
        self._destroyed = True
        await self._engine.remove(self._name)

    def owns(self, pid: int) -> bool:
        """True if a live process may belong to the sandbox; always True for a runtime with its own kernel."""
        return self._first_pid is None or is_below(pid, self._first_pid)

    def let_go(self) -> None:
        """Close our open files."""
        self._control.close()
        if self._witness is not None:
            self._witness.close()

    async def _end_of_container(self) -> int:
        code = await self._engine.exit_code(self._name)
        if self._counters is not None and (await self._engine.state(self._name)).get("OOMKilled"):
            self._counters.tell_out_of_memory()
        return code


async def _reported(witness: ExitWitness) -> int | None:
    for _ in range(_REAPING_ATTEMPTS):
        if (status := witness.wait_status()) is not None or not witness.is_reported_at_all:
            return status
        await asyncio.sleep(_REAPING_INTERVAL_SECONDS)
    return None


def shows_processes(init_pid: int) -> bool:
    """Return True if the processes below a container's first one are the program's, not those of a separate kernel."""
    below = children(init_pid)
    if len(below) != 1:
        return False
    commands = {_command_line(pid) for pid in (init_pid, *below)}
    return len(commands) == 1 and b"read -r go" in commands.pop()


def _command_line(pid: int) -> bytes:
    try:
        return Path("/proc", str(pid), "cmdline").read_bytes()
    except OSError:
        return b""
