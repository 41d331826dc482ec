"""The judge's end of the channel to a runner: a private socket, and memory that both read and write.

Everything is opened before the runner starts. The shared memory is read and written by system calls, never mapped: a
runner that shrinks or swaps it gives short or stale reads, which are its own loss, and cannot crash the judge. What is
read is a private copy, so that it cannot change between two looks.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING

from services.executor.core.model.messages import REPLY_BYTES, Order, ReplyMessage, order_bytes, reply_from_bytes
from services.executor.core.sandbox.private_socket import PrivateSocket
from services.executor.sandboxes.sandbox import Mount

if TYPE_CHECKING:
    import socket
    from collections.abc import Sequence

    from services.executor.sandboxes.sandbox import SandboxedProcess

IN_SANDBOX = Path("/channel")
"""Where the runner finds the channel."""

_Buffer = bytes | bytearray | memoryview
# Linux takes at most 1,024 pieces in one call.
_MOST_PIECES = 1024


class ChannelClosedError(Exception):
    """The runner is gone."""


class Channel:
    """A socket and a memory file in `folder`, which is closed to all other users, for one runner."""

    def __init__(self, folder: Path) -> None:
        self._private_socket = PrivateSocket(folder)
        self._folder = folder
        self._memory = os.open(folder / "memory", os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        self._socket: socket.socket | None = None
        self.size_bytes = 0
        """Of the memory, as the judge made it."""

    @property
    def mounts(self) -> tuple[Mount, ...]:
        """The socket with its key, and the memory."""
        return (
            *self._private_socket.mounts(IN_SANDBOX),
            Mount(self._folder / "memory", IN_SANDBOX / "memory", writable=True),
        )

    @property
    def arguments(self) -> tuple[str, str, str]:
        """The runner's command-line arguments: socket, key and memory."""
        return (*self._private_socket.arguments(IN_SANDBOX), str(IN_SANDBOX / "memory"))

    async def accept(self, process: SandboxedProcess) -> None:
        """Wait for the runner, which is `process`; there is only ever one."""
        self._socket = await self._private_socket.accept(process)

    async def send(self, order: Order, sequence: int, first: int = 0, second: int = 0) -> None:
        """Raises ChannelClosedError when nobody is there."""
        data = order_bytes(order, sequence, first, second)
        try:
            await asyncio.get_running_loop().sock_sendall(self._connected, data)
        except OSError as error:
            raise ChannelClosedError from error

    async def receive(self) -> ReplyMessage:
        """Raises ChannelClosedError at the end, ProtocolError for what is no reply."""
        loop = asyncio.get_running_loop()
        data = b""
        while len(data) < REPLY_BYTES:
            try:
                piece = await loop.sock_recv(self._connected, REPLY_BYTES - len(data))
            except OSError as error:
                raise ChannelClosedError from error
            if not piece:
                raise ChannelClosedError
            data += piece
        return reply_from_bytes(data)

    def resize(self, size_bytes: int) -> None:
        """Make the memory this big."""
        self.size_bytes = size_bytes
        os.ftruncate(self._memory, size_bytes)

    def write(self, offset: int, pieces: Sequence[_Buffer]) -> None:
        """Write pieces one after another from `offset`."""
        for first in range(0, len(pieces), _MOST_PIECES):
            batch = [memoryview(piece).cast("B") for piece in pieces[first : first + _MOST_PIECES] if len(piece)]
            while batch:
                written = os.pwritev(self._memory, batch, offset)
                offset += written
                batch = _rest(batch, written)

    def read(self, offset: int, pieces: Sequence[memoryview]) -> bool:
        """Fill the buffers from `offset`; False when the memory ends too early."""
        left = [piece for piece in pieces if len(piece)]
        while left:
            got = os.preadv(self._memory, left, offset)
            if not got:
                return False
            offset += got
            left = _rest(left, got)
        return True

    def close(self) -> None:
        """Let go of everything; safe to call twice."""
        self._private_socket.close()
        if self._socket is not None:
            self._socket.close()
        if self._memory >= 0:
            # Its name stays until the run ends, and its content would too, once for each runner of the run.
            os.ftruncate(self._memory, 0)
            os.close(self._memory)
            self._memory = -1

    @property
    def _connected(self) -> socket.socket:
        if self._socket is None:
            raise ChannelClosedError
        return self._socket


def _rest(pieces: list[memoryview], done_bytes: int) -> list[memoryview]:
    """What is left of the pieces after the first `done_bytes`."""
    for at, piece in enumerate(pieces):
        if done_bytes < len(piece):
            return [piece[done_bytes:], *pieces[at + 1 :]]
        done_bytes -= len(piece)
    return []
