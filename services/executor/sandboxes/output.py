"""Reads what a boxed process writes: keeps the beginning, counts nothing else, and never blocks the writer."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from services.executor.sandboxes.sandbox import OutputListener, Stream

_CHUNK_BYTES = 1 << 16


class CappedOutput:
    """One stream of a box: at most `limit_bytes` are kept and told to `listener`, the rest is thrown away."""

    def __init__(self, stream: Stream, limit_bytes: int, listener: OutputListener | None) -> None:
        self.truncated = False
        self._stream: Stream = stream
        self._kept = bytearray()
        self._limit_bytes = limit_bytes
        self._listener = listener

    @property
    def kept(self) -> bytes:
        """What has been kept so far."""
        return bytes(self._kept)

    async def drain(self, reader: asyncio.StreamReader) -> None:
        """Read to the end."""
        while chunk := await reader.read(_CHUNK_BYTES):
            self._take(chunk)

    def _take(self, chunk: bytes) -> None:
        room = self._limit_bytes - len(self._kept)
        piece = chunk[:room]
        self.truncated = self.truncated or len(piece) < len(chunk)
        self._kept += piece
        if piece and self._listener is not None:
            self._listener(self._stream, piece)


@dataclass(frozen=True)
class Capture:
    """Both streams of a box; `done` is set when both have ended."""

    stdout: CappedOutput
    stderr: CappedOutput
    done: asyncio.Future[tuple[None, None]]


Readers = tuple[asyncio.StreamReader, asyncio.StreamReader]


def capture(readers: Readers, limit_bytes: int, listener: OutputListener | None) -> Capture:
    """Begin to read stdout and stderr to their ends."""
    stdout = CappedOutput("stdout", limit_bytes, listener)
    stderr = CappedOutput("stderr", limit_bytes, listener)
    return Capture(stdout, stderr, asyncio.gather(stdout.drain(readers[0]), stderr.drain(readers[1])))
