"""A socket that accepts one connection: from the process in a sandbox.

The socket lies in a folder that only our user may enter, and only the sandbox has it mounted. A peer must be a process
of the sandbox, by the kernel's credentials of the connection, and must first send the sandbox's key, which is random
and lies beside the socket. A connection that fails either test is closed, and the next one may try.
"""

from __future__ import annotations

import asyncio
import hmac
import os
import secrets
import socket
import struct
from pathlib import Path

from services.executor.sandboxes.sandbox import Mount, SandboxedProcess

KEY_BYTES = 32
"""The length of the key, which `runner/channel.cpp` and `problem_host/sandboxed/main.py` send first."""
# Process, user and group; see unix(7).
_CREDENTIALS = struct.Struct("3i")
_MOST_WAITING = 16
"""The most connections that the kernel queues for us, and that may prove themselves at the same time."""


class PrivateSocket:
    """The files `socket` and `key` in `folder`, for one process in a sandbox."""

    def __init__(self, folder: Path) -> None:
        folder.chmod(0o700)
        self._folder = folder
        self._key = secrets.token_bytes(KEY_BYTES)
        with os.fdopen(os.open(folder / "key", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(self._key)
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        self._listener.bind(str(folder / "socket"))
        (folder / "socket").chmod(0o600)
        self._listener.listen(_MOST_WAITING)

    def mounts(self, inside: Path) -> tuple[Mount, ...]:
        """Mounts both files in the sandbox's folder `inside`; writable, so that its own user gets them."""
        return tuple(Mount(self._folder / name, inside / name, writable=True) for name in ("socket", "key"))

    def arguments(self, inside: Path) -> tuple[str, str]:
        """The arguments for the program in the sandbox: the paths of its socket and its key."""
        return str(inside / "socket"), str(inside / "key")

    async def accept(self, process: SandboxedProcess) -> socket.socket:
        """Wait for a connection of `process`, and stop listening; the returned connection does not block."""
        arriving: asyncio.Future[socket.socket | None] = asyncio.ensure_future(self._next())
        proving: set[asyncio.Future[socket.socket | None]] = set()
        try:
            while True:
                await asyncio.wait({arriving, *proving}, return_when=asyncio.FIRST_COMPLETED)
                for proof in [one for one in proving if one.done()]:
                    proving.discard(proof)
                    if proved := proof.result():
                        return proved
                if arriving.done():
                    if (connection := arriving.result()) and (
                        proof := self._examined(connection, process, len(proving))
                    ):
                        proving.add(proof)
                    arriving = asyncio.ensure_future(self._next())
        finally:
            await _abandon(arriving, *proving)
            self.close()

    def close(self) -> None:
        """Stop listening; safe to call twice."""
        self._listener.close()

    async def _next(self) -> socket.socket | None:
        connection, _ = await asyncio.get_running_loop().sock_accept(self._listener)
        return connection

    def _examined(
        self, connection: socket.socket, process: SandboxedProcess, proving: int
    ) -> asyncio.Future[socket.socket | None] | None:
        """Starts to read the key of a new connection, beside `proving` others; None if it is closed at once."""
        if proving < _MOST_WAITING and process.owns(peer_pid(connection)):
            return asyncio.ensure_future(self._proved(connection))
        connection.close()
        return None

    async def _proved(self, connection: socket.socket) -> socket.socket | None:
        """The connection, if it begins with the key; otherwise it is closed."""
        said = b""
        try:
            while len(said) < KEY_BYTES and (piece := await _received(connection, KEY_BYTES - len(said))):
                said += piece
        except BaseException:
            connection.close()
            raise
        if hmac.compare_digest(said, self._key):
            return connection
        connection.close()
        return None


def peer_pid(connection: socket.socket) -> int:
    """The process id of the peer in our namespace; 0 if it has none here."""
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    return int(_CREDENTIALS.unpack(credentials)[0])


async def _received(connection: socket.socket, most_bytes: int) -> bytes:
    try:
        return await asyncio.get_running_loop().sock_recv(connection, most_bytes)
    except OSError:
        return b""


async def _abandon(*waiting: asyncio.Future[socket.socket | None]) -> None:
    for one in waiting:
        one.cancel()
    for left in await asyncio.gather(*waiting, return_exceptions=True):
        if isinstance(left, socket.socket):
            left.close()
