"""The sandbox endpoint: runs a whole program, and reports its output line by line as it comes."""

from __future__ import annotations

import asyncio
import time
from codecs import getincrementaldecoder
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from hipcpu.build_folder import BuildKind
from services.executor.core.check.run_verdict import Progress
from services.executor.core.model.events import ProgramOutput, ProgramResult, ProgramStarted
from services.executor.core.model.limits import with_one_more_byte
from services.executor.core.sandbox.exit_reasons import program_failure
from services.executor.core.sandbox.running import end_of, running
from services.executor.devices.device import Device
from services.executor.sandboxes.sandbox import Exit, Limits, Sandbox, SandboxedProcess, Stream

_MOST_CHARACTERS = 4096
"""The longest piece of a line that is sent at once; longer lines come in pieces."""


class LineTeller:
    """Turns the pieces of two streams into lines."""

    def __init__(self, tell: Callable[[ProgramOutput], None], clock: Callable[[], float] = time.time) -> None:
        self._tell = tell
        self._clock = clock
        # Bytes that are not UTF-8 are shown as U+FFFD; a character may come in two pieces.
        self._decoders = {name: getincrementaldecoder("utf-8")("replace") for name in ("stdout", "stderr")}
        self._pending = {"stdout": "", "stderr": ""}

    def take(self, stream: Stream, piece: bytes) -> None:
        """Send every line that `piece` completes."""
        *lines, rest = (self._pending[stream] + self._decoders[stream].decode(piece)).split("\n")
        for line in lines:
            self._tell_line(stream, line)
        while len(rest) > _MOST_CHARACTERS:
            self._tell_line(stream, rest[:_MOST_CHARACTERS])
            rest = rest[_MOST_CHARACTERS:]
        self._pending[stream] = rest

    def finish(self) -> None:
        """Send the rest, which no newline ended."""
        for stream, rest in self._pending.items():
            if rest:
                self._tell_line(stream, rest)
            self._pending[stream] = ""

    def _tell_line(self, stream: str, line: str) -> None:
        self._tell(ProgramOutput(stream, line, int(self._clock() * 1000)))


class _Cap:
    """Passes on the first `most_bytes` of each stream, and notes if there was more."""

    def __init__(self, teller: LineTeller, most_bytes: int) -> None:
        self.exceeded = asyncio.Event()
        self._teller = teller
        self._left = {"stdout": most_bytes, "stderr": most_bytes}

    def take(self, stream: Stream, piece: bytes) -> None:
        if len(piece) > self._left[stream]:
            self.exceeded.set()
        self._teller.take(stream, piece[: self._left[stream]])
        self._left[stream] = max(0, self._left[stream] - len(piece))


async def run_program(device: Device, sandbox: Sandbox, limits: Limits, build: Path, progress: Progress) -> None:
    """Run the program in `build` to its end, or until it has printed too much; raises Failure unless it ended well."""
    teller = LineTeller(progress.tell)
    cap = _Cap(teller, limits.output_bytes)
    progress.tell(ProgramStarted())
    progress.first_call_time = time.time()
    command = device.run_command(build, BuildKind.PROGRAM)
    async with running(sandbox, command, with_one_more_byte(limits), cap.take) as process:
        end = await _end_or_cut(process, cap.exceeded)
        teller.finish()
        end = replace(
            end,
            stdout=end.stdout[: limits.output_bytes],
            stderr=end.stderr[: limits.output_bytes],
            output_truncated=cap.exceeded.is_set(),
        )
        progress.end = end
        progress.program = ProgramResult(
            return_code=_return_code(end),
            stdout=end.stdout.decode(errors="replace"),
            stderr=end.stderr.decode(errors="replace"),
            truncated=end.output_truncated,
        )
        if failure := program_failure(end, limits):
            raise failure


async def _end_or_cut(process: SandboxedProcess, exceeded: asyncio.Event) -> Exit:
    ending = asyncio.ensure_future(end_of(process))
    cutting = asyncio.ensure_future(exceeded.wait())
    try:
        await asyncio.wait((ending, cutting), return_when=asyncio.FIRST_COMPLETED)
        if not ending.done():
            await process.kill()
        return await ending
    finally:
        ending.cancel()
        cutting.cancel()
        await asyncio.gather(ending, cutting, return_exceptions=True)


def _return_code(end: Exit) -> int:
    if end.signal is not None:
        return -end.signal
    return end.code or 0
