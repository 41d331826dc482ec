"""Tunnels over SSH from sockets of this host to the executors of distant machines.

An executor listens only on its machine's loopback. Each machine has one SSH connection, which is made again whenever it
breaks, and forwards a unix socket here to the executor's port there. The socket's path stays the same for the machine's
life, and so does a lease's endpoint. While the connection is down, nobody listens at the socket, and gRPC calls end
with UNAVAILABLE.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import stat
import tempfile
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import asyncssh

from servicekit.logging import get_logger
from vocabulary.backoff import Backoff, Retries

if TYPE_CHECKING:
    from services.vmpool.providers.ssh.key import HostKeyPins

log = get_logger(__name__)

# asyncssh logs every connection and channel, and every call has one.
asyncssh.set_log_level("WARNING")

CONNECT_SECONDS = 10.0
KEEPALIVE_SECONDS = 3.0
KEEPALIVES_MISSED = 3
"""A connection is replaced after this many unanswered keepalives; our heartbeat has noticed by then too."""
BACKOFF = Backoff(first=timedelta(seconds=0.2), longest=timedelta(seconds=5))
LONGEST_SOCKET_NAME = 50
LONGEST_SOCKET_PATH = 107
"""Bytes of a unix socket's path: `sun_path` of unix(7), less the closing NUL."""

_CONNECTING = "connecting over SSH"


@dataclass(frozen=True)
class SshTarget:
    """The address of an executor: on the loopback of the host that SSH reaches, through `jump` if there is one."""

    host: str
    ssh_port: int
    username: str
    executor_port: int
    jump: SshTarget | None = None


@dataclass
class _Tunnel:
    machine_id: str
    target: SshTarget
    trouble: str = _CONNECTING
    up: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None

    def is_up(self) -> None:
        self.trouble = ""
        self.up.set()
        log.info("a machine is reached over SSH", extra={"machine_id": self.machine_id, "host": self.target.host})

    def is_down(self, trouble: str) -> None:
        if self.trouble != trouble:
            log.warning("a machine is not reached", extra={"machine_id": self.machine_id, "reason": trouble})
        self.trouble = trouble
        self.up.clear()

    async def end(self) -> None:
        if self.task is not None:
            self.task.cancel()
            await asyncio.gather(self.task, return_exceptions=True)


class _PinningClient(asyncssh.SSHClient):
    """Trusts only the machine's pinned host key."""

    def __init__(self, machine_id: str, pins: HostKeyPins) -> None:
        self._machine_id = machine_id
        self._pins = pins

    def validate_host_public_key(self, host: str, addr: str, port: int, key: asyncssh.SSHKey) -> bool:  # noqa: ARG002 - asyncssh's own signature
        accepted = self._pins.accepts(self._machine_id, key)
        if not accepted:
            log.error(
                "a machine shows another host key than before, and is not believed",
                extra={"machine_id": self._machine_id, "host": host, "fingerprint": key.get_fingerprint()},
            )
        return accepted


class SshTunnels:
    """The endpoints of distant machines; all methods belong to one event loop."""

    def __init__(self, folder: Path, key: asyncssh.SSHKey, pins: HostKeyPins) -> None:
        self._sockets = _short_folder(folder)
        self._key = key
        self._pins = pins
        self._tunnels: dict[str, _Tunnel] = {}

    def open(self, machine_id: str, target: SshTarget) -> str:
        """The gRPC target that reaches the machine's executor; connects in the background.

        A repeated call changes nothing, unless the machine has moved: then its connection is made again.
        """
        known = self._tunnels.get(machine_id)
        if known is None or known.target != target:
            tunnel = self._tunnels[machine_id] = _Tunnel(machine_id, target)
            tunnel.task = asyncio.create_task(self._keep_up(tunnel, known), name=f"ssh to {machine_id}")
        return f"unix:{self._socket(machine_id)}"

    def trouble(self, machine_id: str) -> str:
        """Why the machine cannot be reached now; empty if it can."""
        tunnel = self._tunnels.get(machine_id)
        return "it has no tunnel" if tunnel is None else tunnel.trouble

    def answering_host(self, machine_id: str) -> str:
        """The machine's host, if it answers over SSH or the first try to reach it is under way; else empty."""
        tunnel = self._tunnels.get(machine_id)
        return tunnel.target.host if tunnel and tunnel.trouble in {"", _CONNECTING} else ""

    async def reachable(self, machine_id: str) -> None:
        """Wait until the machine's connection is up."""
        await self._tunnels[machine_id].up.wait()

    async def drop(self, machine_id: str) -> None:
        """Close the machine's connection and forget its host key; an unknown machine is no error."""
        await self._end(machine_id)
        self._pins.forget(machine_id)

    async def close(self) -> None:
        """Close all connections; host keys stay pinned."""
        await asyncio.gather(*(self._end(machine_id) for machine_id in list(self._tunnels)))

    async def _end(self, machine_id: str) -> None:
        tunnel = self._tunnels.pop(machine_id, None)
        if tunnel is not None:
            await tunnel.end()
            self._socket(machine_id).unlink(missing_ok=True)

    async def _keep_up(self, tunnel: _Tunnel, before: _Tunnel | None) -> None:
        if before is not None:
            await before.end()
        target, retries = tunnel.target, Retries(BACKOFF)
        while True:
            try:
                async with contextlib.AsyncExitStack() as stack:
                    connection = await self._forward(tunnel, stack)
                    retries.reset()
                    tunnel.is_up()
                    await connection.wait_closed()
                tunnel.is_down("its SSH connection broke")
            except (OSError, asyncssh.Error, TimeoutError) as error:
                tunnel.is_down(f"SSH to {target.host}:{target.ssh_port}: {str(error) or type(error).__name__}")
            await retries.wait()

    async def _forward(self, tunnel: _Tunnel, stack: contextlib.AsyncExitStack) -> asyncssh.SSHClientConnection:
        async with asyncio.timeout(CONNECT_SECONDS):
            connection = await self._connect(tunnel.machine_id, tunnel.target, stack)
            path = self._socket(tunnel.machine_id)
            path.unlink(missing_ok=True)
            listener = await connection.forward_local_path_to_port(str(path), "127.0.0.1", tunnel.target.executor_port)
        stack.callback(listener.close)
        return connection

    async def _connect(
        self, machine_id: str, target: SshTarget, stack: contextlib.AsyncExitStack
    ) -> asyncssh.SSHClientConnection:
        way = None
        if target.jump is not None:
            way = await self._connect(f"{machine_id}.jump", target.jump, stack)
        connection = await asyncssh.connect(
            target.host,
            target.ssh_port,
            tunnel=way or (),
            username=target.username,
            client_keys=[self._key],
            client_factory=lambda: _PinningClient(machine_id, self._pins),
            # Use nothing of the account's own: no keys, no known hosts, no configuration.
            known_hosts=([], [], []),
            agent_path=None,
            config=None,
            keepalive_interval=KEEPALIVE_SECONDS,
            keepalive_count_max=KEEPALIVES_MISSED,
        )
        await stack.enter_async_context(connection)
        return connection

    def _socket(self, machine_id: str) -> Path:
        return self._sockets / f"{machine_id}.sock"


def _short_folder(folder: Path) -> Path:
    """The folder, or a shorter one of ours if socket paths in it would be too long for the kernel.

    Raises PermissionError if the shorter one belongs to somebody else or is open to others.
    """
    folder = folder.resolve()
    if len(bytes(folder)) + LONGEST_SOCKET_NAME <= LONGEST_SOCKET_PATH:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return folder
    name = hashlib.sha256(bytes(folder)).hexdigest()[:12]
    short = Path(tempfile.gettempdir()) / f"wavepool-{os.getuid()}-{name}"
    short.mkdir(exist_ok=True, mode=0o700)
    status = short.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o077:
        raise PermissionError(f"{short} belongs to another user or is open to others: remove it")
    return short
