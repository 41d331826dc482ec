"""A TCP relay that loses an HTTP request, or the answer to it, as a network does at the worst moment."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

CHUNK_BYTES = 65_536


@dataclass
class _Loss:
    path: bytes = b""
    answer_only: bool = False
    happened: asyncio.Event = field(default_factory=asyncio.Event)

    def strikes(self, request: bytes) -> bool:
        """True if the piece begins a request that must be lost: the request line comes first, in one piece."""
        return self.path != b"" and self.path in request.partition(b"\r\n")[0]


class LossyRelay:
    """Stands before an HTTP server; runs on the test's loop, which therefore must not block."""

    def __init__(self, server_url: str) -> None:
        self._server = urlsplit(server_url)
        self._loss = _Loss()
        self._connections: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._listener = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._listener.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.close()
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    def lose(self, path: str, *, answer_only: bool = False) -> asyncio.Event:
        """Until `heal`, breaks connections at a request to this path, before the request or before its answer.

        The event is set when it happens; with `answer_only` the server has then done the work.
        """
        self._loss = _Loss(path.encode(), answer_only)
        return self._loss.happened

    def heal(self) -> None:
        self._loss = _Loss()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            with suppress(ConnectionError, asyncio.CancelledError):
                await self._relay(reader, writer)
        finally:
            self._connections.discard(task)
            writer.close()

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with AsyncExitStack() as stack:
            server_reader, server_writer = await asyncio.open_connection(self._server.hostname, self._server.port)
            stack.callback(server_writer.close)
            answers = asyncio.create_task(_pass_on(server_reader, writer))
            stack.callback(answers.cancel)
            while piece := await reader.read(CHUNK_BYTES):
                loss = self._loss
                if not loss.strikes(piece):
                    server_writer.write(piece)
                    continue
                await _ended(answers)
                if loss.answer_only:
                    server_writer.write(piece)
                    await _answered(reader, server_writer, server_reader)
                loss.happened.set()
                await reader.read(-1)


async def _answered(reader: asyncio.StreamReader, server: asyncio.StreamWriter, answer: asyncio.StreamReader) -> None:
    """Gives the server the rest of the request, and waits until it begins to answer."""

    async def rest() -> None:
        while piece := await reader.read(CHUNK_BYTES):
            server.write(piece)

    sending = asyncio.create_task(rest())
    await answer.read(1)
    await _ended(sending)


async def _ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while piece := await reader.read(CHUNK_BYTES):
            writer.write(piece)
