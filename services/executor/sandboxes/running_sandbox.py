"""A sandbox's life: it waits for the start, then for its program's end or excess, and ends the whole tree."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Protocol, TypeVar

from servicekit.cancellation import uncut
from services.executor.sandboxes.limits.cgroup import CgroupCounters
from services.executor.sandboxes.limits.watchdog import Excess, Watchdog
from services.executor.sandboxes.output import Capture
from services.executor.sandboxes.sandbox import (
    Command,
    Exit,
    Limits,
    OutputListener,
    PreparedSandbox,
    Sandbox,
    SandboxedProcess,
    SandboxError,
)

PreparedT = TypeVar("PreparedT", bound=PreparedSandbox)


class ProcessTree(Protocol):
    """The processes of one sandbox, as its adapter can see and end them."""

    def release(self) -> bool:
        """Let the waiting program begin; returns False if the sandbox has ended meanwhile."""
        ...

    async def wait_status(self) -> int:
        """Wait for the end of the command; returns its wait status as `os.waitpid` does."""
        ...

    async def destroy(self) -> None:
        """Kill the remaining processes and return when none is left."""
        ...

    def owns(self, pid: int) -> bool:
        """True if this live process belongs to the sandbox."""
        ...


DEATH_SECONDS = 20.0
"""Time for a killed tree to end.

Ordinary trees with gigabytes of memory need a second or two, and Docker needs some on a busy machine. What is still
left sits in a call into the kernel or a driver that SIGKILL does not end.
"""


@dataclass
class SandboxParts:
    """The parts of a sandbox, waiting or running, and how to end it; `cleanup` runs once the tree is gone."""

    tree: ProcessTree
    watchdog: Watchdog
    capture: Capture
    cgroup: CgroupCounters | None = None
    cleanup: AsyncExitStack = field(default_factory=AsyncExitStack)
    ending: asyncio.Task[None] | None = None

    async def end(self) -> bool:
        """End the tree, read its output to the end, and clean up; returns False if it is not gone after DEATH_SECONDS.

        In that case this goes on in the background, in case the tree ends after all.
        """
        self.ending = asyncio.create_task(self._end())
        await asyncio.wait({self.ending}, timeout=DEATH_SECONDS)
        if not self.ending.done():
            return False
        self.ending.result()
        return True

    async def _end(self) -> None:
        try:
            await self.tree.destroy()
            await self.capture.done
        except asyncio.CancelledError:
            # The executor ends and the tree does not: cleaning up would wait for it.
            raise
        except BaseException:
            await self.cleanup.aclose()
            raise
        await self.cleanup.aclose()


class WaitingSandbox:
    """Implements PreparedSandbox on top of any ProcessTree."""

    def __init__(self, parts: SandboxParts) -> None:
        self._parts = parts
        self._running: RunningSandbox | None = None
        self._ending: asyncio.Task[bool] | None = None

    async def start(self, on_output: OutputListener | None = None) -> RunningSandbox:
        """Let the program begin; raises SandboxError if the sandbox was used before, or ended while it waited."""
        if self._running is not None or self._ending is not None:
            raise SandboxError("a prepared sandbox is used once")
        self._parts.capture.tell(on_output)
        if not self._parts.tree.release():
            await self.discard()
            raise SandboxError("the prepared sandbox ended while it waited")
        self._parts.watchdog.begin()
        self._running = RunningSandbox(self._parts)
        return self._running

    async def discard(self) -> None:
        """Remove the sandbox, even if the caller is cancelled meanwhile."""
        if self._running is not None:
            # A sandbox that broke down is gone as well.
            with suppress(SandboxError):
                await self._running.kill()
            return
        self._ending = self._ending or asyncio.create_task(self._parts.end())
        await uncut(self._ending)


class RunningSandbox:
    """Implements SandboxedProcess on top of any ProcessTree."""

    def __init__(self, parts: SandboxParts) -> None:
        self._parts = parts
        self._killed = asyncio.Event()
        self._life = asyncio.create_task(self._live())

    async def wait(self) -> Exit:
        """Wait for the end of the whole tree and return how it ended."""
        return await asyncio.shield(self._life)

    async def kill(self) -> None:
        """End the whole tree at once, even if the caller is cancelled meanwhile."""
        self._killed.set()
        await uncut(self._life)

    def owns(self, pid: int) -> bool:
        """True if this live process belongs to the sandbox."""
        return self._parts.tree.owns(pid)

    async def cpu_time(self) -> timedelta:
        """Return the processor time of the whole tree so far."""
        return await self._parts.watchdog.cpu_time()

    async def _live(self) -> Exit:
        parts = self._parts
        ended = asyncio.create_task(parts.tree.wait_status())
        watching = asyncio.create_task(parts.watchdog.excess())
        killed = asyncio.create_task(self._killed.wait())
        try:
            await asyncio.wait((ended, watching, killed), return_when=asyncio.FIRST_COMPLETED)
            excess = watching.result() if watching.done() and not ended.done() else None
        finally:
            watching.cancel()
            killed.cancel()
            out_of_memory = parts.cgroup is not None and parts.cgroup.ran_out_of_memory
            refused = parts.cgroup is not None and parts.cgroup.refused_processes
            peak_memory_mib = parts.watchdog.peak_memory_mib
            is_gone = await parts.end()
        try:
            # If the program has not ended, report the signal that we tried to end it with.
            status = await ended if is_gone or ended.done() else signal.SIGKILL
        except SandboxError:
            # In groups of version 2 the kernel kills bwrap with the program, so nobody can report how that ended.
            if not out_of_memory:
                raise
            status = signal.SIGKILL
        ended.cancel()
        end = _exit_of(status, Excess.MEMORY if out_of_memory else excess, parts.capture)
        return replace(end, peak_memory_mib=peak_memory_mib, processes_refused=refused, unkillable=not is_gone)


async def whole_or_nothing(preparing: Awaitable[PreparedT]) -> PreparedT:
    """Return the sandbox; if the caller is cancelled meanwhile, it is discarded."""

    async def discard(prepared: PreparedT) -> None:
        with suppress(SandboxError):
            await prepared.discard()

    return await uncut(preparing, discard)


async def started(
    sandbox: Sandbox, command: Command, limits: Limits, on_output: OutputListener | None
) -> SandboxedProcess:
    """Prepare a sandbox and let its program begin; if the caller is cancelled meanwhile, it is discarded."""
    prepared = await sandbox.prepare(command, limits)
    return await prepared.start(on_output)


def _exit_of(wait_status: int, excess: Excess | None, capture: Capture) -> Exit:
    signalled = os.WIFSIGNALED(wait_status)
    exit_signal = os.WTERMSIG(wait_status) if signalled else None
    return Exit(
        code=None if signalled else os.WEXITSTATUS(wait_status),
        signal=exit_signal,
        stdout=capture.stdout.kept,
        stderr=capture.stderr.kept,
        wall_exceeded=excess is Excess.WALL,
        cpu_exceeded=excess is Excess.CPU or exit_signal == signal.SIGXCPU,
        memory_exceeded=excess is Excess.MEMORY,
        files_exceeded=excess is Excess.FILES or exit_signal == signal.SIGXFSZ,
        output_truncated=capture.stdout.truncated or capture.stderr.truncated,
    )
