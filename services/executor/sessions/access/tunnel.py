"""One SSH connection to a session: a stream of a call on one side, a socket that sshd has on the other."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncGenerator, AsyncIterator

_CHUNK_BYTES = 1 << 18
_BULK_BYTES = 1 << 14
"""A client that sends so much at once copies a file. Text that people type and see comes in smaller pieces."""
_GATHERING_SECONDS = 0.0007
"""sshd sends a file in packets of 32 KiB. The calls behind us cost by the message, so a few of them go in one."""


class Tunnel:
    """Our end of a connection; a side that does not read holds up the other, in both directions."""

    def __init__(self, ours: socket.socket) -> None:
        self._socket = ours
        self._writer: asyncio.StreamWriter | None = None

    async def carry(self, incoming: AsyncIterator[bytes]) -> AsyncGenerator[bytes]:
        """Pass `incoming` on to sshd and yield what sshd sends, until sshd closes the connection.

        The end of `incoming` closes only the way to sshd; an error of it breaks the connection and is raised. Closing
        this generator breaks the connection.
        """
        reader, writer = await asyncio.open_unix_connection(sock=self._socket, limit=_CHUNK_BYTES)
        self._writer = writer
        inward = asyncio.create_task(_pass_on(incoming, writer))
        failure: BaseException | None = None
        try:
            with contextlib.suppress(ConnectionError):
                while chunk := await reader.read(_CHUNK_BYTES):
                    yield chunk
                    if len(chunk) >= _BULK_BYTES:
                        await _more_comes()
        finally:
            inward.cancel()
            self.close()
            await asyncio.wait({inward})
            failure = None if inward.cancelled() else inward.exception()
        if failure is not None and not isinstance(failure, OSError):
            raise failure

    def close(self) -> None:
        """Break the connection; safe to call twice."""
        if self._writer is None:
            self._socket.close()
        else:
            self._writer.transport.abort()


async def _more_comes() -> None:
    await asyncio.sleep(_GATHERING_SECONDS)


async def _pass_on(incoming: AsyncIterator[bytes], writer: asyncio.StreamWriter) -> None:
    try:
        async for data in incoming:
            writer.write(data)
            await writer.drain()
        writer.write_eof()
    except BaseException:
        writer.transport.abort()
        raise
