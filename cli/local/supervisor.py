"""Keeps a set of programs running: starts them, restarts them if they die, stops them in order.

Each program dies with this process (`tether`), and its leftovers are swept up (`sweep`), even if this process is killed
with SIGKILL.
"""

from __future__ import annotations

import asyncio
import os
import sys
import uuid
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from cli.local import sweep
from cli.local.supervised_program import SupervisedProgram

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Sequence

    from cli.local.program import Program

SWEEP = Path(sweep.__file__)


class Supervisor:
    """Runs programs; `notify` gets one sentence for each event that a person should know of.

    Programs start in the given order, without waiting for each other, and stop in the reverse order.
    """

    def __init__(self, programs: Sequence[Program], notify: Callable[[str], None], grace_seconds: float) -> None:
        self.mark = uuid.uuid4().hex
        self._grace_seconds = grace_seconds
        self._hurry = asyncio.Event()
        environment = {**os.environ, sweep.MARK_VARIABLE: self.mark, "PYTHONUNBUFFERED": "1"}
        self._programs = [SupervisedProgram(program, environment, notify) for program in programs]
        self._tasks: list[asyncio.Task[None]] = []
        self._sweeper: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Starts all programs."""
        self._sweeper = await asyncio.create_subprocess_exec(
            sys.executable, "-S", str(SWEEP), self.mark, stdin=asyncio.subprocess.PIPE, start_new_session=True
        )
        self._tasks = [
            asyncio.create_task(program.keep_running(), name=program.program.name) for program in self._programs
        ]

    async def wait_until_ready(self, timeout_seconds: float) -> None:
        """Waits until all programs are ready.

        Raises StartError for a program that keeps dying before it is ready, or is not ready in time.
        """
        waiting = [asyncio.create_task(program.wait_until_ready(timeout_seconds)) for program in self._programs]
        try:
            await self._first_failure(waiting)
        finally:
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)

    async def _first_failure(self, waiting: Sequence[asyncio.Task[None]]) -> None:
        pending: set[asyncio.Task[None]] = set(waiting)
        while pending:
            done, _ = await asyncio.wait([*pending, *self._tasks], return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
            pending -= done

    async def wait(self) -> None:
        """Waits for ever; raises the error of a program that could not be kept running."""
        await asyncio.gather(*self._tasks)

    def hurry(self) -> None:
        """Cuts the grace short: programs that still run are killed."""
        self._hurry.set()

    async def stop(self) -> None:
        """Stops all programs, each with its grace, then sweeps up."""
        for program in reversed(self._programs):
            await program.stop(self._grace_seconds, self._hurry)
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._sweeper is not None and self._sweeper.stdin is not None:
            self._sweeper.stdin.close()
            await self._sweeper.wait()

    def process_id(self, name: str) -> int | None:
        """The process id of a program while it runs, else None."""
        return next((p.process_id for p in self._programs if p.program.name == name), None)


@asynccontextmanager
async def running(
    programs: Sequence[Program], notify: Callable[[str], None], grace_seconds: float
) -> AsyncGenerator[Supervisor]:
    """Starts programs on entry and stops them on exit, even after an error."""
    supervisor = Supervisor(programs, notify, grace_seconds)
    try:
        await supervisor.start()
        yield supervisor
    finally:
        await asyncio.shield(supervisor.stop())
