"""The SSH servers of a VM of the lab: they check keys and forward into the VM's own network."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import TYPE_CHECKING, Any

import asyncssh

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SHIM_PORT = 10998
CONTAINER_SSH_PORT = 10022


class SshFront(asyncssh.SSHServer):
    """One connection to a VM's sshd. `authorized_keys` returns the current keys, as lines.

    `shim_runs` returns whether the shim has been started: until then, nothing listens on its port.
    """

    def __init__(
        self,
        folder: Path,
        authorized_keys: Callable[[], list[str]],
        shim_runs: Callable[[], bool],
        connections: set[Any],
    ) -> None:
        self._folder = folder
        self._authorized_keys = authorized_keys
        self._shim_runs = shim_runs
        self._connections = connections
        self._connection: asyncssh.SSHServerConnection | None = None

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._connection = conn
        self._connections.add(conn)

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.discard(self._connection)

    def begin_auth(self, username: str) -> bool:
        return True

    def public_key_auth_supported(self) -> bool:
        return True

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        shown = key.export_public_key().split()[:2]
        return any(line.encode().split()[:2] == shown for line in self._authorized_keys() if line.strip())

    def connection_requested(self, dest_host: str, dest_port: int, orig_host: str, orig_port: int) -> Any:
        if dest_port == SHIM_PORT and not self._shim_runs():
            return False
        if dest_port == CONTAINER_SSH_PORT:
            return self._connection.forward_unix_connection(str(self._folder / "container.sock"))
        return self._into_the_vm(["tcp", dest_host, dest_port])

    def unix_connection_requested(self, dest_path: str) -> Any:
        return self._into_the_vm(["unix", dest_path])

    async def _into_the_vm(self, target: list[str | int]) -> asyncssh.SSHTCPSession[bytes]:
        try:
            reader, writer = await asyncio.open_unix_connection(self._folder / "relay.sock")
        except OSError as error:
            raise asyncssh.ChannelOpenError(asyncssh.OPEN_CONNECT_FAILED, str(error)) from error
        writer.write(json.dumps(target).encode() + b"\n")
        answer = b""
        with contextlib.suppress(ConnectionError):
            answer = await reader.readline()
        # asyncssh drops a session whose connection has ended without telling it.
        if answer != b"ok\n" or self._connection not in self._connections:
            writer.close()
            raise asyncssh.ChannelOpenError(asyncssh.OPEN_CONNECT_FAILED, answer.decode().strip() or "it went down")
        return RelaySession(reader, writer)


class RelaySession(asyncssh.SSHTCPSession[bytes]):
    """One forwarded connection: the SSH channel on one side, the relay on the other."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._pump: asyncio.Task[None] | None = None

    def connection_made(self, chan: asyncssh.SSHTCPChannel[bytes]) -> None:
        self._channel = chan

    def session_started(self) -> None:
        self._pump = asyncio.get_running_loop().create_task(self._pump_out())

    def data_received(self, data: bytes, datatype: asyncssh.DataType) -> None:
        self._writer.write(data)

    def eof_received(self) -> bool:
        self._writer.write_eof()
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        self._writer.close()
        if self._pump:
            self._pump.cancel()

    async def _pump_out(self) -> None:
        try:
            while data := await self._reader.read(65536):
                self._channel.write(data)
        finally:
            self._channel.close()
