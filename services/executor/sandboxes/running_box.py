"""A running box: waits for its end or its excess, ends the whole tree either way, and says how it went."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from services.executor.sandboxes.sandbox import Exit, SandboxError
from services.executor.sandboxes.watchdog import Excess, Watchdog

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from services.executor.sandboxes.cgroup import Cgroup
    from services.executor.sandboxes.output import Capture


class ProcessTree(Protocol):
    """The processes of one box, as its adapter can see and end them."""

    async def wait_status(self) -> int:
        """Wait for the end of the command; its wait status as of `os.waitpid`."""
        ...

    async def destroy(self) -> None:
        """Kill whatever is left and return when nothing is."""
        ...


@dataclass
class BoxParts:
    """What a running box is made of; `cleanup` is run when the tree is gone."""

    tree: ProcessTree
    watchdog: Watchdog
    capture: Capture
    cgroup: Cgroup | None = None
    cleanup: AsyncExitStack = field(default_factory=AsyncExitStack)


class RunningBox:
    """Implements BoxedProcess on top of any ProcessTree."""

    def __init__(self, parts: BoxParts) -> None:
        self._parts = parts
        self._killed = asyncio.Event()
        self._life = asyncio.create_task(self._live())

    async def wait(self) -> Exit:
        """Wait for the end of the whole tree."""
        return await asyncio.shield(self._life)

    async def kill(self) -> None:
        """End the whole tree at once."""
        self._killed.set()
        await self.wait()

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
            await self._end_tree()
        return _exit_of(await ended, Excess.MEMORY if out_of_memory else excess, parts.capture)

    async def _end_tree(self) -> None:
        try:
            await self._parts.tree.destroy()
            await self._parts.capture.done
        finally:
            await self._parts.cleanup.aclose()


async def whole_or_nothing(start: Coroutine[Any, Any, RunningBox]) -> RunningBox:
    """Start a box in one piece: who is cancelled meanwhile leaves none behind."""
    starting = asyncio.ensure_future(start)
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        with suppress(SandboxError):
            await (await starting).kill()
        raise


def _exit_of(wait_status: int, excess: Excess | None, capture: Capture) -> Exit:
    signalled = os.WIFSIGNALED(wait_status)
    ending_signal = os.WTERMSIG(wait_status) if signalled else None
    return Exit(
        code=None if signalled else os.WEXITSTATUS(wait_status),
        signal=ending_signal,
        stdout=capture.stdout.kept,
        stderr=capture.stderr.kept,
        wall_exceeded=excess is Excess.WALL,
        cpu_exceeded=excess is Excess.CPU or ending_signal == signal.SIGXCPU,
        memory_exceeded=excess is Excess.MEMORY,
        files_exceeded=excess is Excess.FILES or ending_signal == signal.SIGXFSZ,
        output_truncated=capture.stdout.truncated or capture.stderr.truncated,
    )
