"""The executor's client of the fork server that forks judges; it restarts a fork server that has died."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from asyncio.subprocess import DEVNULL, Process
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from servicekit import logging
from services.executor.judges.forked_process import ForkedProcess, fork
from services.executor.judges.judge import DIE_WITH_US, Judge

log = logging.get_logger(__name__)

# The fork server ends as soon as its socket is closed, or once it has started if it is still doing that.
_END_SECONDS = 3.0


class JudgeForkServer:
    """Starts judges. `command` starts the fork server when the first judge is needed."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._command = command
        self._environment = environment
        self._running: _Running | None = None
        self._changing = asyncio.Lock()

    @property
    def pid(self) -> int | None:
        """The fork server's process id; None if none was started."""
        return self._running.process.pid if self._running else None

    async def start(self) -> Judge:
        """Start a judge that waits for its job; raises OSError."""
        try:
            return Judge(await self._fork())
        except ConnectionError:
            log.warning("the fork server has died and is started again")
            return Judge(await self._fork())

    async def close(self) -> None:
        """End the fork server, and with it the remaining judges."""
        async with self._changing:
            if self._running is not None:
                await self._running.end()
            self._running = None

    async def _fork(self) -> ForkedProcess:
        running = await self._fork_server()
        try:
            return await fork(running.channel)
        except TimeoutError:
            await self._drop(running)
            raise
        except ConnectionError as error:
            await self._drop(running)
            raise ConnectionResetError("the fork server died; what it wrote to our stderr says why") from error

    async def _fork_server(self) -> _Running:
        async with self._changing:
            if self._running is None:
                self._running = await _start(self._command, self._environment)
            return self._running

    async def _drop(self, dead: _Running) -> None:
        async with self._changing:
            if self._running is dead:
                self._running = None
                await dead.end()


@dataclass(frozen=True)
class _Running:
    process: Process
    channel: socket.socket

    async def end(self) -> None:
        self.channel.close()
        try:
            async with asyncio.timeout(_END_SECONDS):
                await self.process.wait()
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                self.process.kill()
            await self.process.wait()


async def _start(command: Sequence[str], environment: Mapping[str, str]) -> _Running:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setblocking(False)
    with contextlib.ExitStack() as cleanup:
        cleanup.enter_context(ours)
        with theirs:
            process = await asyncio.create_subprocess_exec(
                *DIE_WITH_US, *command, stdin=theirs.fileno(), stdout=DEVNULL, env=environment, start_new_session=True
            )
        cleanup.pop_all()
    return _Running(process, ours)
