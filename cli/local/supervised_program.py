"""One program of a Supervisor: runs it, restarts it if it dies, and stops it."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from cli.local.program import (
    STARTS_BEFORE_READY,
    WRONG_SETTINGS,
    StartError,
    crashes_in_a_row,
    how_it_ended,
    restart_delay,
    tail,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cli.local.program import Program

TETHER = Path(__file__).with_name("tether.py")
POLL_SECONDS = 0.05


class SupervisedProgram:
    """Keeps one program running until it is stopped."""

    def __init__(self, program: Program, environment: Mapping[str, str], notify: Callable[[str], None]) -> None:
        self.program = program
        self._environment = {**environment, **program.environment}
        self._notify = notify
        self._process: asyncio.subprocess.Process | None = None
        self._stopping = asyncio.Event()
        self._ready = asyncio.Event()
        self._log_begin_bytes = program.log.stat().st_size if program.log.exists() else 0

    @property
    def process_id(self) -> int | None:
        """The process id while the program runs, else None."""
        running = self._process is not None and self._process.returncode is None
        return self._process.pid if running and self._process else None

    async def keep_running(self) -> None:
        """Runs the program again and again until `stop`; raises StartError if it never gets ready."""
        loop, crashes = asyncio.get_running_loop(), 0
        while not self._stopping.is_set():
            start = loop.time()
            return_code = await self._run_once()
            if self._stopping.is_set():
                return
            if return_code == WRONG_SETTINGS and not self._ready.is_set():
                raise StartError(self._story("refuses its settings"))
            crashes = crashes_in_a_row(crashes, loop.time() - start)
            ending, delay = how_it_ended(return_code), restart_delay(crashes)
            if crashes >= STARTS_BEFORE_READY and not self._ready.is_set():
                raise StartError(self._story(f"ended {crashes} times ({ending}) without being ready"))
            self._notify(f"{self.program.name} died ({ending}); starting it again in {delay:g} s")
            await self._wait_for_stop(delay)

    async def wait_until_ready(self, timeout_seconds: float) -> None:
        """Waits until the program reports that it is ready; raises StartError if that takes too long."""
        try:
            async with asyncio.timeout(timeout_seconds):
                while self.process_id is None or not await self.program.is_ready():  # noqa: ASYNC110 - another process gives no event
                    await asyncio.sleep(POLL_SECONDS)
        except TimeoutError:
            raise StartError(self._story(f"was not ready after {timeout_seconds:g} s")) from None
        self._ready.set()

    async def stop(self, grace_seconds: float, hurry: asyncio.Event) -> None:
        """Asks the program to end, and kills it after its grace or once `hurry` is set."""
        self._stopping.set()
        process = self._process
        if process is None or process.returncode is not None:
            return
        process.terminate()
        ended, hurried = asyncio.create_task(process.wait()), asyncio.create_task(hurry.wait())
        done, _ = await asyncio.wait([ended, hurried], timeout=grace_seconds, return_when=asyncio.FIRST_COMPLETED)
        hurried.cancel()
        if ended not in done:
            self._notify(f"{self.program.name} did not stop in time and is killed")
            process.kill()
        await ended

    async def _run_once(self) -> int:
        self.program.log.touch(0o600)
        with self.program.log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-S",
                str(TETHER),
                str(os.getpid()),
                *self.program.arguments,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self._environment,
                start_new_session=True,
            )
        if self._stopping.is_set():
            self._process.kill()
        return await self._process.wait()

    async def _wait_for_stop(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._stopping.wait()
        except TimeoutError:
            return

    def _story(self, what: str) -> str:
        words = tail(self.program.log, self._log_begin_bytes)
        if not words:
            return f"{self.program.name} {what}, and wrote nothing to {self.program.log}; is this machine very busy?"
        return f"{self.program.name} {what}; the end of {self.program.log}:\n{words}"
