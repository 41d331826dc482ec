"""The judge's end of the channel to a runner: a private socket, and memory that both read and write.

Everything is opened before the runner starts. The shared memory is read and written by system calls, never mapped. If a
runner shrinks or swaps it, reads are short or stale: this harms only the runner, and cannot crash the judge. The judge
reads into private copies, which cannot change between two looks.
"""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import Sequence
from pathlib import Path

from services.executor.core.model.messages import REPLY_BYTES, Order, ReplyMessage, order_bytes, reply_from_bytes
from services.executor.core.sandbox.private_socket import PrivateSocket
from services.executor.sandboxes.sandbox import Mount, SandboxedProcess

IN_SANDBOX = Path("/channel")
"""The folder of the channel in the runner's sandbox."""

_Buffer = bytes | bytearray | memoryview
# Linux takes at most 1,024 pieces in one call.
_MOST_PIECES = 1024


class ChannelClosedError(Exception):
    """The runner is gone."""


class Channel:
    """A socket and a memory file for one runner, in `folder`, which is closed to all other users."""

    def __init__(self, folder: Path) -> None:
        self._private_socket = PrivateSocket(folder)
        self._folder = folder
        self._memory = os.open(folder / "memory", os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        self._socket: socket.socket | None = None
        self.size_bytes = 0
        """The size of the memory, as the judge set it."""

    @property
    def mounts(self) -> tuple[Mount, ...]:
        """The mounts of the socket, its key and the memory."""
        return (
            *self._private_socket.mounts(IN_SANDBOX),
            Mount(self._folder / "memory", IN_SANDBOX / "memory", writable=True),
        )

    @property
    def arguments(self) -> tuple[str, str, str]:
        """The runner's command-line arguments: socket, key and memory."""
        return (*self._private_socket.arguments(IN_SANDBOX), str(IN_SANDBOX / "memory"))

    async def accept(self, process: SandboxedProcess) -> None:
        """Wait for the runner, which is `process`; it connects only once."""
        self._socket = await self._private_socket.accept(process)

    async def send(self, order: Order, sequence: int, first: int = 0, second: int = 0) -> None:
        """Send an order; raises ChannelClosedError if the runner is gone."""
        data = order_bytes(order, sequence, first, second)
        try:
            await asyncio.get_running_loop().sock_sendall(self._connected, data)
        except OSError as error:
            raise ChannelClosedError from error

    async def receive(self, busy_seconds: float = 0.0) -> ReplyMessage:
        """Receive a reply; raises ChannelClosedError at the end, and ProtocolError for bytes that are not a reply.

        For the first `busy_seconds` it does not sleep but asks again and again, and the event loop does nothing else.
        """
        loop = asyncio.get_running_loop()
        data = self._asked_busily(busy_seconds) if busy_seconds else b""
        while len(data) < REPLY_BYTES:
            try:
                piece = await loop.sock_recv(self._connected, REPLY_BYTES - len(data))
            except OSError as error:
                raise ChannelClosedError from error
            if not piece:
                raise ChannelClosedError
            data += piece
        return reply_from_bytes(data)

    def _asked_busily(self, seconds: float) -> bytes:
        """Return the first piece of a reply, or nothing if none comes within `seconds`; raises ChannelClosedError."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                piece = self._connected.recv(REPLY_BYTES)
            except BlockingIOError:
                continue
            except OSError as error:
                raise ChannelClosedError from error
            if not piece:
                raise ChannelClosedError
            return piece
        return b""

    def resize(self, size_bytes: int) -> None:
        """Set the size of the memory."""
        self.size_bytes = size_bytes
        os.ftruncate(self._memory, size_bytes)

    def write(self, offset: int, pieces: Sequence[_Buffer]) -> None:
        """Write the pieces one after another from `offset`."""
        for first in range(0, len(pieces), _MOST_PIECES):
            batch = [memoryview(piece).cast("B") for piece in pieces[first : first + _MOST_PIECES] if len(piece)]
            while batch:
                written = os.pwritev(self._memory, batch, offset)
                offset += written
                batch = _rest(batch, written)

    def read(self, offset: int, pieces: Sequence[memoryview]) -> bool:
        """Fill the buffers from `offset`; returns False if the memory ends too early."""
        left = [piece for piece in pieces if len(piece)]
        while left:
            got = os.preadv(self._memory, left, offset)
            if not got:
                return False
            offset += got
            left = _rest(left, got)
        return True

    def close(self) -> None:
        """Close everything; safe to call twice."""
        self._private_socket.close()
        if self._socket is not None:
            self._socket.close()
        if self._memory >= 0:
            # The file stays until the run ends; without this so would its content, once for each runner of the run.
            os.ftruncate(self._memory, 0)
            os.close(self._memory)
            self._memory = -1

    @property
    def _connected(self) -> socket.socket:
        if self._socket is None:
            raise ChannelClosedError
        return self._socket


def _rest(pieces: list[memoryview], done_bytes: int) -> list[memoryview]:
    """The rest of the pieces after the first `done_bytes`."""
    for at, piece in enumerate(pieces):
        if done_bytes < len(piece):
            return [piece[done_bytes:], *pieces[at + 1 :]]
        done_bytes -= len(piece)
    return []
