"""The sandbox endpoint: a whole program, whose output is told line by line as it comes."""

from __future__ import annotations

import time
from codecs import getincrementaldecoder
from typing import TYPE_CHECKING

from services.executor.core.boxes import run_to_end
from services.executor.core.endings import program_failure
from services.executor.core.events import ProgramOutput, ProgramResult, ProgramStarted
from services.executor.devices.device import BuildKind

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from services.executor.core.progress import Progress
    from services.executor.devices.device import Device
    from services.executor.sandboxes.sandbox import Exit, Limits, Sandbox, Stream

_MOST_CHARACTERS = 4096
"""Of a line told at once; longer ones come in pieces."""


class LineTeller:
    """Turns the pieces of two streams into lines."""

    def __init__(self, tell: Callable[[ProgramOutput], None], clock: Callable[[], float] = time.time) -> None:
        self._tell = tell
        self._clock = clock
        # Bytes that are no UTF-8 are shown as U+FFFD; a character may come in two pieces.
        self._decoders = {name: getincrementaldecoder("utf-8")("replace") for name in ("stdout", "stderr")}
        self._pending = {"stdout": "", "stderr": ""}

    def take(self, stream: Stream, piece: bytes) -> None:
        """Tell every line that `piece` completes."""
        *lines, rest = (self._pending[stream] + self._decoders[stream].decode(piece)).split("\n")
        for line in lines:
            self._tell_line(stream, line)
        while len(rest) > _MOST_CHARACTERS:
            self._tell_line(stream, rest[:_MOST_CHARACTERS])
            rest = rest[_MOST_CHARACTERS:]
        self._pending[stream] = rest

    def finish(self) -> None:
        """Tell what was not ended by a newline."""
        for stream, rest in self._pending.items():
            if rest:
                self._tell_line(stream, rest)
            self._pending[stream] = ""

    def _tell_line(self, stream: str, line: str) -> None:
        self._tell(ProgramOutput(stream, line, int(self._clock() * 1000)))


async def run_program(device: Device, sandbox: Sandbox, limits: Limits, build: Path, progress: Progress) -> None:
    """Run the program in `build` to its end; raises Failure unless it ended well."""
    teller = LineTeller(progress.tell)
    progress.tell(ProgramStarted())
    progress.first_call_time = time.time()
    end = await run_to_end(sandbox, device.run_command(build, BuildKind.PROGRAM), limits, teller.take)
    teller.finish()
    progress.end = end
    progress.program = ProgramResult(
        return_code=_return_code(end),
        stdout=end.stdout.decode(errors="replace"),
        stderr=end.stderr.decode(errors="replace"),
        truncated=end.output_truncated,
    )
    if failure := program_failure(end, limits):
        raise failure


def _return_code(end: Exit) -> int:
    if end.signal is not None:
        return -end.signal
    return end.code or 0
