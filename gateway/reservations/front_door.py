"""An SSH server that leads to the sessions of reservations, for people who have a key and no token: `ssh -J`.

It takes public keys only, those of reservations that people can log in to now, and does one thing: it opens connections
to port 22 of such a reservation, by `wp-` and a part of its id. There is no shell, no command, no other
host, no other kind of forwarding. The connection within is that of the person's own ssh with the session's sshd, which
checks the key again.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, cast

import asyncssh
import grpc
from asyncssh.constants import DISC_NO_MORE_AUTH_METHODS_AVAILABLE, OPEN_ADMINISTRATIVELY_PROHIBITED
from asyncssh.stream import SSHTCPStreamSession
from wavepool.scheduler.v1.reservations_pb2 import FindTunnelTargetRequest, FindTunnelTargetResponse
from wavepool.vmpool.v1.vmpool_pb2 import OpenTunnelRequest, TunnelTarget

from gateway.config import GatewaySettings
from gateway.http.errors import ProblemError
from gateway.reservations.tunnel import Place, Tunnels
from gateway.upstreams import CALL_TIMEOUT_SECONDS, Upstreams
from servicekit.logging import get_logger

log = get_logger(__name__)

SSH_PORT = 22
CHUNK_BYTES = 1 << 16
LOGIN_SECONDS = 20
MOST_CHANNELS = 16
"""Connections to sessions over one connection to the front door."""
MOST_KEYS = 20
"""Keys that one connection may offer; each asks the scheduler, and the right one twice."""
MOST_UNKNOWN = 100
"""Connections that have yet to log in; further ones are closed."""
SHOWN = "(front door)"
"""The user of its bytes in metrics: those of keys are names that owners of reservations give, in any number."""


@asynccontextmanager
async def front_door(settings: GatewaySettings, upstreams: Upstreams, tunnels: Tunnels) -> AsyncGenerator[int]:
    """Serves on GATEWAY_SSH_PORT and gives the port. Raises OSError if it is taken."""
    key, unknown = host_key(settings.data_dir / "ssh_host_ed25519_key"), set[Door]()
    acceptor = await asyncssh.create_server(
        lambda: Door(upstreams, tunnels, settings.tunnel_check.total_seconds(), unknown),
        host=settings.host,
        port=settings.ssh_port,
        server_host_keys=[key],
        public_key_auth=True,
        password_auth=False,
        kbdint_auth=False,
        host_based_auth=False,
        gss_host=None,
        login_timeout=LOGIN_SECONDS,
        keepalive_interval=30,
        agent_forwarding=False,
        x11_forwarding=False,
        allow_scp=False,
        compression_algs=["none"],
        server_version="Wavepool",
    )
    port = acceptor.get_port()
    log.info("the SSH front door is open", extra={"port": port, "host_key": key.get_fingerprint()})
    try:
        yield port
    finally:
        acceptor.close()
        await acceptor.wait_closed()


def host_key(path: Path) -> asyncssh.SSHKey:
    """The front door's own key, which is made when it is first needed, and kept."""
    if not path.exists():
        # Its type leaves the options unknown.
        made: asyncssh.SSHKey = cast("Any", asyncssh).generate_private_key("ssh-ed25519")
        path.parent.mkdir(parents=True, exist_ok=True)
        written = path.with_suffix(".new")
        descriptor = os.open(written, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(made.export_private_key())
        written.rename(path)
    return asyncssh.read_private_key(path)


class Door(asyncssh.SSHServer):
    """One connection to the front door."""

    def __init__(self, upstreams: Upstreams, tunnels: Tunnels, check_seconds: float, unknown: set[Door]) -> None:
        self._upstreams = upstreams
        self._tunnels = tunnels
        self._check_seconds = check_seconds
        self._unknown = unknown
        self._connection: asyncssh.SSHServerConnection | None = None
        self._keys = 0
        self._line = ""
        self._channels = 0

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        """Takes the connection, unless too many have yet to log in."""
        if len(self._unknown) >= MOST_UNKNOWN:
            conn.abort()
            return
        self._connection = conn
        self._unknown.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Makes room for another."""
        del exc
        self._unknown.discard(self)

    def auth_completed(self) -> None:
        """Makes room for another that has yet to log in."""
        self._unknown.discard(self)

    def begin_auth(self, username: str) -> bool:
        """Everybody needs a key; the name does not matter."""
        del username
        return True

    def public_key_auth_supported(self) -> bool:
        """A key is the only way in."""
        return True

    async def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        """True if some reservation has the key. It is asked again for the key that is then proved."""
        del username
        self._keys += 1
        if self._keys > MOST_KEYS:
            if self._connection is not None:
                said = f"{MOST_KEYS} keys were tried; name the right one with IdentityFile and IdentitiesOnly"
                self._connection.disconnect(DISC_NO_MORE_AUTH_METHODS_AVAILABLE, said)
            return False
        line = " ".join(key.export_public_key().decode().split()[:2])
        with suppress(grpc.aio.AioRpcError):
            await self._find(line, "")
            self._line = line
            return True
        return False

    def connection_requested(
        self, dest_host: str, dest_port: int, orig_host: str, orig_port: int
    ) -> Coroutine[Any, Any, asyncssh.SSHTCPSession[bytes]]:
        """Leads to a session; raises ChannelOpenError, whose text ssh shows."""
        del orig_host, orig_port
        if dest_port != SSH_PORT:
            raise _refusal(f"port {dest_port} of {dest_host[:80]!r} is not a session; only port {SSH_PORT} is")
        if self._channels >= MOST_CHANNELS:
            raise _refusal(f"{MOST_CHANNELS} connections are open already")
        return self._session(self._line, dest_host)

    async def _session(self, line: str, host: str) -> asyncssh.SSHTCPSession[bytes]:
        try:
            found = await self._find(line, host)
        except grpc.aio.AioRpcError as error:
            raise _refusal(error.details() or "no such session") from error
        return SSHTCPStreamSession(self._tunnel_to(line, found))

    def _tunnel_to(
        self, line: str, found: FindTunnelTargetResponse
    ) -> Callable[[asyncssh.SSHReader[bytes], asyncssh.SSHWriter[bytes]], Coroutine[Any, Any, None]]:
        async def carry(reader: asyncssh.SSHReader[bytes], writer: asyncssh.SSHWriter[bytes]) -> None:
            self._channels += 1
            said = {"reservation_id": found.reservation_id, "user": found.user}
            log.info("a tunnel opens at the front door", extra=said)
            try:
                with (
                    self._tunnels.place_for(line, SHOWN) as place,
                    suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError),
                ):
                    await self._carried(reader, writer, line, found, place)
            except ProblemError as error:
                log.info("a tunnel is refused at the front door", extra={**said, "reason": error.problem.detail})
            finally:
                self._channels -= 1
                writer.close()
                log.info("a tunnel ends at the front door", extra=said)

        return carry

    async def _carried(
        self,
        reader: asyncssh.SSHReader[bytes],
        writer: asyncssh.SSHWriter[bytes],
        line: str,
        found: FindTunnelTargetResponse,
        place: Place,
    ) -> None:
        call = self._upstreams.vmpool.OpenTunnel()
        target = TunnelTarget(lease_id=found.lease_id, session_id=found.session_id)
        inward = asyncio.create_task(_inward(reader, call, target, place))
        others = [
            asyncio.create_task(_outward(writer, call, place)),
            asyncio.create_task(self._checked(line, found, place)),
        ]
        try:
            await asyncio.wait(others, return_when=asyncio.FIRST_COMPLETED)
        finally:
            call.cancel()
            for task in (inward, *others):
                task.cancel()
            await asyncio.gather(inward, *others, return_exceptions=True)

    async def _checked(self, line: str, found: FindTunnelTargetResponse, place: Place) -> None:
        """Returns once the key does not open the session any more, or has moved all bytes that it may move today."""
        host = f"{found.reservation_id}-{found.node}" if found.node else found.reservation_id
        while True:
            await asyncio.sleep(self._check_seconds)
            if spent := place.tally():
                said = {"reservation_id": found.reservation_id, "user": found.user, "reason": spent}
                log.info("a tunnel is cut at the front door", extra=said)
                return
            try:
                if await self._find(line, host) != found:
                    return
            except grpc.aio.AioRpcError as error:
                # If this cannot be found out now, it goes on; so it does if nobody else can log in, as it is ending.
                if error.code() is grpc.StatusCode.NOT_FOUND:
                    return

    async def _find(self, line: str, host: str) -> FindTunnelTargetResponse:
        request = FindTunnelTargetRequest(public_key=line, host=host)
        return await self._upstreams.reservations.FindTunnelTarget(request, timeout=CALL_TIMEOUT_SECONDS)


async def _inward(
    reader: asyncssh.SSHReader[bytes],
    call: Any,  # noqa: ANN401 - the stub's type says nothing more
    target: TunnelTarget,
    place: Place,
) -> None:
    await call.write(OpenTunnelRequest(open=target))
    while data := await reader.read(CHUNK_BYTES):
        place.moved += len(data)
        await call.write(OpenTunnelRequest(data=data))
    await call.done_writing()


async def _outward(writer: asyncssh.SSHWriter[bytes], call: Any, place: Place) -> None:  # noqa: ANN401 - as above
    while (answer := await call.read()) is not grpc.aio.EOF and answer.data:
        place.moved += len(answer.data)
        writer.write(answer.data)
        await writer.drain()


def _refusal(reason: str) -> asyncssh.ChannelOpenError:
    return asyncssh.ChannelOpenError(OPEN_ADMINISTRATIVELY_PROHIBITED, reason)
