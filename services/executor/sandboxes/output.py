"""Reads a sandboxed process's output: keeps the beginning, drops the rest, and never blocks the writer."""

from __future__ import annotations

import asyncio
import struct
from dataclasses import dataclass

from services.executor.sandboxes.sandbox import OutputListener, Stream

_CHUNK_BYTES = 1 << 16
# https://docs.docker.com/engine/api, "Stream format" of ContainerAttach
_FRAME = struct.Struct(">B3xI")
_FRAME_OF_STDERR = 2


class CappedOutput:
    """One stream of a sandbox: up to `limit_bytes` are kept and sent to `listener`, the rest is dropped."""

    listener: OutputListener | None = None

    def __init__(self, stream: Stream, limit_bytes: int) -> None:
        self.truncated = False
        self._stream: Stream = stream
        self._kept = bytearray()
        self._limit_bytes = limit_bytes

    @property
    def kept(self) -> bytes:
        """The output so far, up to the limit."""
        return bytes(self._kept)

    async def drain(self, reader: asyncio.StreamReader) -> None:
        """Read the stream to its end."""
        while chunk := await reader.read(_CHUNK_BYTES):
            self.take(chunk)

    def take(self, chunk: bytes) -> None:
        """Keep and pass on as much of a chunk as there is room for."""
        room = self._limit_bytes - len(self._kept)
        piece = chunk[:room]
        self.truncated = self.truncated or len(piece) < len(chunk)
        self._kept += piece
        if piece and self.listener is not None:
            self.listener(self._stream, piece)


@dataclass(frozen=True)
class Capture:
    """Both streams of a sandbox; `done` is set when both have ended."""

    stdout: CappedOutput
    stderr: CappedOutput
    done: asyncio.Future[None]

    def tell(self, listener: OutputListener | None) -> None:
        """Send new output to `listener` from now on."""
        self.stdout.listener = self.stderr.listener = listener


Readers = tuple[asyncio.StreamReader, asyncio.StreamReader]


def capture(readers: Readers, limit_bytes: int) -> Capture:
    """Begin to read stdout and stderr to their ends."""
    stdout = CappedOutput("stdout", limit_bytes)
    stderr = CappedOutput("stderr", limit_bytes)
    return Capture(stdout, stderr, asyncio.create_task(_drain((stdout, readers[0]), (stderr, readers[1]))))


async def _drain(*streams: tuple[CappedOutput, asyncio.StreamReader]) -> None:
    await asyncio.gather(*(output.drain(reader) for output, reader in streams))


class FramedOutput:
    """Both streams of a sandbox on one connection, framed as in Docker's attach: kind, length, bytes."""

    def __init__(self, reader: asyncio.StreamReader, limit_bytes: int) -> None:
        self._reader = reader
        self._stdout = CappedOutput("stdout", limit_bytes)
        self._stderr = CappedOutput("stderr", limit_bytes)

    async def first_frame(self) -> bytes:
        """Return the first frame, which is not kept; empty at the end."""
        _, length = await self._header()
        return await self._reader.readexactly(length) if length else b""

    def capture(self) -> Capture:
        """Begin to read both streams to their ends."""
        return Capture(self._stdout, self._stderr, asyncio.create_task(self._drain()))

    async def _drain(self) -> None:
        kind, length = await self._header()
        while kind is not None:
            output = self._stderr if kind == _FRAME_OF_STDERR else self._stdout
            while length and (chunk := await self._piece(length)):
                output.take(chunk)
                length -= len(chunk)
            kind, length = await self._header()

    async def _header(self) -> tuple[int | None, int]:
        try:
            kind, length = _FRAME.unpack(await self._reader.readexactly(_FRAME.size))
        except (asyncio.IncompleteReadError, ConnectionError):
            return None, 0
        return int(kind), int(length)

    async def _piece(self, most_bytes: int) -> bytes:
        try:
            return await self._reader.read(min(most_bytes, _CHUNK_BYTES))
        except ConnectionError:
            return b""
