"""A child process seen through a pidfd: its end is an event of any loop, whatever else is open."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Sequence
from typing import IO


class Child:
    """A started program with an empty environment and readable outputs; its input is a pipe or empty."""

    def __init__(self, arguments: Sequence[str], descriptors: Sequence[int], *, has_input: bool = False) -> None:
        self._process = subprocess.Popen(  # noqa: S603  the caller's own argument vector, no shell
            arguments,
            stdin=subprocess.PIPE if has_input else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=descriptors,
            env={},
            start_new_session=True,
        )
        self._end = ProcessEnd(self._process.pid)

    @property
    def pid(self) -> int:
        """Process id; valid until the end has been waited for."""
        return self._process.pid

    def write_and_close_input(self, data: bytes) -> bool:
        """Write a few bytes, which fit the pipe without blocking; returns False if the program has ended."""
        assert self._process.stdin is not None  # noqa: S101  asked for by `has_input`
        try:
            with self._process.stdin as stdin:
                stdin.write(data)
        except BrokenPipeError:
            return False
        return not self._end.has_come

    async def outputs(self) -> tuple[asyncio.StreamReader, asyncio.StreamReader]:
        """Return readers of stdout and stderr; call once."""
        stdout, stderr = self._process.stdout, self._process.stderr
        assert stdout is not None  # noqa: S101  PIPE was asked for
        assert stderr is not None  # noqa: S101
        return await pipe_reader(stdout), await pipe_reader(stderr)

    async def wait(self) -> int:
        """Wait for the end and reap; returns the exit code, or the negative signal number."""
        await self._end.wait()
        return self._process.wait()

    def close_input(self) -> None:
        """Close the input; safe to call twice."""
        if self._process.stdin is not None:
            self._process.stdin.close()

    def kill(self) -> None:
        """Send SIGKILL; safe after the end."""
        self.close_input()
        self._process.kill()


class ProcessEnd:
    """Notices the end of a process; the first process of a pid namespace ends after all others in it."""

    def __init__(self, pid: int) -> None:
        self._ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        try:
            self._descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            self._ended.set_result(None)
        else:
            asyncio.get_running_loop().add_reader(self._descriptor, self._on_end)

    @property
    def has_come(self) -> bool:
        """True once the process is known to have ended."""
        return self._ended.done()

    def kill(self) -> None:
        """Send SIGKILL unless it has ended."""
        if not self._ended.done():
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._descriptor, signal.SIGKILL)

    async def wait(self) -> None:
        """Wait for the end."""
        await asyncio.shield(self._ended)

    def _on_end(self) -> None:
        asyncio.get_running_loop().remove_reader(self._descriptor)
        os.close(self._descriptor)
        if not self._ended.done():
            self._ended.set_result(None)


async def pipe_reader(pipe: IO[bytes]) -> asyncio.StreamReader:
    """Return a reader of `pipe`, which is closed at its end."""
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    return reader
