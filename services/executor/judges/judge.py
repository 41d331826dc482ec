"""A judge process: started ahead of time, given one job, and gone afterwards.

It reads a JudgeJob message from stdin and writes RunEvent messages to stdout, each after its length. It ends when the
process that started it dies, and its sandboxes die with it. `setpriv` makes the kernel do this, so a killed executor
leaves no process behind.
"""

from __future__ import annotations

import asyncio
import contextlib
from asyncio import StreamReader, StreamWriter
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Protocol

from google.protobuf.message import DecodeError
from wavepool.executor.v1.run_event_pb2 import VERDICT_INFRA_ERROR, Finished, RunEvent

from servicekit import logging
from services.executor.core.model.job import CoreJob
from services.executor.core.model.run_events import LENGTH, UNKILLABLE_STATUS, framed
from services.executor.sandboxes.running_sandbox import DEATH_SECONDS

log = logging.get_logger(__name__)

DIE_WITH_US = ("setpriv", "--pdeathsig", "KILL", "--")
# A message holds at most all samples or one report, which are far smaller.
MOST_MESSAGE_BYTES = 64 << 20
# How long a judge may take to clean up after SIGTERM: it waits DEATH_SECONDS for a sandbox that does not die, and
# reports it. If a judge is killed, the kernel ends its sandboxes, but its folder stays until the executor starts again.
TERM_GRACE_SECONDS = DEATH_SECONDS + 5.0
_STDERR_TAIL_BYTES = 4096


class JudgeProcess(Protocol):
    """The interface of a judge's process; asyncio's processes have it."""

    @property
    def pid(self) -> int:
        """The process id."""
        ...

    @property
    def stdin(self) -> StreamWriter | None:
        """Stream that the process reads from."""
        ...

    @property
    def stdout(self) -> StreamReader | None:
        """Stream of events."""
        ...

    @property
    def stderr(self) -> StreamReader | None:
        """Log of the process, and the stack trace of a crash."""
        ...

    @property
    def returncode(self) -> int | None:
        """Exit code; None while the process runs."""
        ...

    def terminate(self) -> None:
        """Send SIGTERM; may raise ProcessLookupError if the process has ended."""
        ...

    def kill(self) -> None:
        """Send SIGKILL; may raise ProcessLookupError if the process has ended."""
        ...

    async def wait(self) -> int:
        """Wait for the end; returns the exit code."""
        ...


class Judge:
    """One process of the core.

    It may take `grace_seconds` to end after SIGTERM, and `death_seconds` after SIGKILL.
    """

    def __init__(
        self,
        process: JudgeProcess,
        grace_seconds: float = TERM_GRACE_SECONDS,
        death_seconds: float = DEATH_SECONDS,
    ) -> None:
        self._process = process
        self._grace_seconds = grace_seconds
        self._death_seconds = death_seconds
        self._stderr = asyncio.create_task(_tail(process))

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        environment: Mapping[str, str],
        grace_seconds: float = TERM_GRACE_SECONDS,
        death_seconds: float = DEATH_SECONDS,
    ) -> Judge:
        """Start a judge that waits for its job; raises OSError."""
        process = await asyncio.create_subprocess_exec(
            *DIE_WITH_US,
            *command,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env=environment,
            start_new_session=True,
        )
        return cls(process, grace_seconds, death_seconds)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """True while the process runs, so that it can take a job."""
        return self._process.returncode is None

    async def run(self, job: CoreJob) -> AsyncIterator[RunEvent]:
        """Give the judge its job and yield its events; the last is `finished`, made here if the judge broke down."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None  # noqa: S101  PIPE was asked for
        assert stdout is not None  # noqa: S101
        with contextlib.suppress(ConnectionError):
            stdin.write(framed(job.to_bytes()))
            await stdin.drain()
        try:
            while event := await next_event(stdout):
                yield event
                if event.HasField("finished"):
                    return
        except (DecodeError, ValueError, asyncio.IncompleteReadError):
            log.exception("the judge does not speak our language", extra={"judge_pid": self.pid})
        await self.end()
        tail = "" if self._stderr.cancelled() else await self._stderr
        log.error("the judge broke down", extra={"status": self._process.returncode, "stderr": tail})
        message = "The judge broke down, which is our fault. Run again elsewhere."
        yield RunEvent(finished=Finished(verdict=VERDICT_INFRA_ERROR, message=message, details=tail))

    @property
    def leaves_processes(self) -> bool:
        """True if the judge, or something it ran, is left after `end` and cannot be killed."""
        return self._process.returncode in {None, UNKILLABLE_STATUS}

    async def end(self) -> None:
        """End the judge with SIGTERM, then with SIGKILL; returns once it is gone or has had `death_seconds` to die."""
        with contextlib.suppress(ProcessLookupError):
            if self.is_alive:
                self._process.terminate()
        try:
            async with asyncio.timeout(self._grace_seconds):
                await self._process.wait()
        except TimeoutError:
            log.warning("the judge did not end on SIGTERM and is killed", extra={"judge_pid": self.pid})
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            try:
                async with asyncio.timeout(self._death_seconds):
                    await self._process.wait()
            except TimeoutError:
                log.error("the judge cannot be killed", extra={"judge_pid": self.pid})  # noqa: TRY400
                self._stderr.cancel()
        await asyncio.wait({self._stderr})


async def next_event(stream: StreamReader) -> RunEvent | None:
    """Return the next event from a judge, or None at the end.

    Raises asyncio.IncompleteReadError, ValueError or DecodeError if the stream holds anything else.
    """
    length = await stream.read(1)
    if not length:
        return None
    (size,) = LENGTH.unpack(length + await stream.readexactly(LENGTH.size - 1))
    if size > MOST_MESSAGE_BYTES:
        raise ValueError(f"a message of {size:,} bytes")
    return RunEvent.FromString(await stream.readexactly(size))


async def _tail(process: JudgeProcess) -> str:
    assert process.stderr is not None  # noqa: S101  PIPE was asked for
    kept = b""
    while chunk := await process.stderr.read(_STDERR_TAIL_BYTES):
        kept = (kept + chunk)[-_STDERR_TAIL_BYTES:]
    return kept.decode(errors="replace")
