"""SSH connections to sessions on leased machines, between a call of the gateway and a call of an executor.

Each direction passes one message on before it reads the next, so a side that does not read holds up the other. A
tunnel ends with its lease: a loop reads the leases of all tunnels once a second, so that it does not matter who ended
them. If vmpool dies, its tunnels break and the sessions go on.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import grpc
from wavepool.executor.v1 import session_pb2, session_pb2_grpc

from servicekit.clock import Clock
from servicekit.logging import get_logger
from servicekit.rpc.channels import open_channel
from services.vmpool import metrics
from services.vmpool.errors import (
    InvalidFieldError,
    LeaseEndedError,
    PoolError,
    SessionNotFoundError,
    SessionRefusedError,
    SessionUnreachableError,
    TooManyTunnelsError,
)
from services.vmpool.machines.lease import Lease
from services.vmpool.machines.machine import Machine
from services.vmpool.store.lease_store import LeaseStore
from services.vmpool.store.machine_store import MachineStore
from vocabulary.bearer import authorization

log = get_logger(__name__)

IDLE_CHANNEL = timedelta(seconds=60)
"""Time for which a channel without a tunnel is kept: people who copy files make one connection after another."""


@dataclass
class _Channel:
    """A channel to an executor; `idle_since` is set while no tunnel uses it."""

    channel: grpc.aio.Channel
    tunnels: int = 0
    idle_since: datetime | None = None


@dataclass(eq=False)
class _Tunnel:
    """One connection. `fault` says why we have broken it; None if we have not."""

    lease_id: str
    call: Any
    fault: Exception | None = field(default=None, init=False)

    def break_off(self, fault: Exception) -> None:
        """End the executor's call, so that its reader raises `fault`."""
        if self.fault is None:
            self.fault = fault
            self.call.cancel()


class Tunnels:
    """Carries SSH connections, over one channel for each executor. `run_once` ends those whose leases are over."""

    name = "tunnels"

    def __init__(self, leases: LeaseStore, machines: MachineStore, clock: Clock) -> None:
        self._leases = leases
        self._machines = machines
        self._clock = clock
        self._open: set[_Tunnel] = set()
        self._channels: dict[str, _Channel] = {}

    async def carry(self, lease_id: str, session_id: str, incoming: AsyncIterator[bytes]) -> AsyncGenerator[bytes]:
        """Pass `incoming` on to a session and yield what its sshd sends, until sshd closes the connection.

        The end of `incoming` closes only the way to sshd; an error of it breaks the connection and is raised. Closing
        this generator breaks the connection. Raises LeaseNotFoundError, LeaseEndedError (also later, when the lease
        ends), SessionNotFoundError, SessionRefusedError, TooManyTunnelsError and SessionUnreachableError.
        """
        lease = await self._leases.get(lease_id)
        lease.check_alive(self._clock.now())
        machine = await self._machines.get(lease.machine_id)
        channel = self._taken_channel(machine.endpoint)
        tunnel = _Tunnel(lease_id, _connect(channel, machine))
        self._open.add(tunnel)
        inward = asyncio.create_task(_pass_on(lease, session_id, incoming, tunnel))
        try:
            with metrics.tunnels_open.track_inprogress():
                while (answer := await tunnel.call.read()) is not grpc.aio.EOF and answer.data:
                    metrics.tunnel_bytes.labels("out").inc(len(answer.data))
                    yield answer.data
        except grpc.aio.AioRpcError as error:
            raise tunnel.fault or _refusal(error, session_id, machine) from error
        except asyncio.CancelledError:
            # Reading a call that we have cancelled ourselves is cancelled, too.
            if tunnel.fault is None or _is_being_cancelled():
                raise
            raise tunnel.fault from None
        finally:
            inward.cancel()
            tunnel.call.cancel()
            self._open.discard(tunnel)
            self._give_back_channel(machine.endpoint, channel)
            await asyncio.wait({inward})

    async def run_once(self) -> None:
        """Break the tunnels whose leases are over, and close the channels that nobody has used for a while."""
        now = self._clock.now()
        if self._open:
            standing = await self._leases.of_ids({tunnel.lease_id for tunnel in self._open})
            for tunnel in list(self._open):
                if fault := _end_of(standing.get(tunnel.lease_id), tunnel.lease_id, now):
                    tunnel.break_off(fault)
        for endpoint, kept in list(self._channels.items()):
            # `abs`, because a clock that was set back must not keep channels for ever.
            if kept.idle_since is not None and abs(now - kept.idle_since) >= IDLE_CHANNEL:
                del self._channels[endpoint]
                await kept.channel.close()

    async def close(self) -> None:
        """Close all channels, and with them the tunnels."""
        while self._channels:
            await self._channels.popitem()[1].channel.close()

    def _taken_channel(self, endpoint: str) -> grpc.aio.Channel:
        kept = self._channels.get(endpoint)
        if kept is None:
            self._channels[endpoint] = kept = _Channel(open_channel(endpoint))
        kept.tunnels += 1
        kept.idle_since = None
        return kept.channel

    def _give_back_channel(self, endpoint: str, channel: grpc.aio.Channel) -> None:
        kept = self._channels.get(endpoint)
        if kept is None or kept.channel is not channel:
            return
        kept.tunnels -= 1
        if not kept.tunnels:
            kept.idle_since = self._clock.now()


def _connect(channel: grpc.aio.Channel, machine: Machine) -> Any:  # noqa: ANN401 - grpc's types lack the call
    stub: Any = session_pb2_grpc.SessionServiceStub(channel)
    return stub.Connect(metadata=(authorization(machine.token),))


async def _pass_on(lease: Lease, session_id: str, incoming: AsyncIterator[bytes], tunnel: _Tunnel) -> None:
    name = session_pb2.SessionName(session_id=session_id, fencing_token=lease.fencing_token)
    try:
        # The executor has ended the call if it cannot be written to: its reader learns why.
        with suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):
            await tunnel.call.write(session_pb2.ConnectRequest(open=name))
            async for data in incoming:
                metrics.tunnel_bytes.labels("in").inc(len(data))
                await tunnel.call.write(session_pb2.ConnectRequest(data=data))
            await tunnel.call.done_writing()
    except Exception as fault:  # noqa: BLE001 - whatever it is, the reader raises it
        tunnel.break_off(fault)


def _end_of(lease: Lease | None, lease_id: str, now: datetime) -> LeaseEndedError | None:
    """Why a lease is over; None if it is not."""
    if lease is None:
        return LeaseEndedError(lease_id, "it is forgotten")
    try:
        lease.check_alive(now)
    except LeaseEndedError as error:
        return error
    return None


def _refusal(error: grpc.aio.AioRpcError, session_id: str, machine: Machine) -> PoolError:
    """What the executor's status means to our caller."""
    said = error.details() or ""
    if error.code() in {grpc.StatusCode.NOT_FOUND, grpc.StatusCode.UNIMPLEMENTED}:
        return SessionNotFoundError(session_id, machine.machine_id)
    if error.code() is grpc.StatusCode.FAILED_PRECONDITION:
        return SessionRefusedError(session_id, said)
    if error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED:
        return TooManyTunnelsError(session_id, said)
    if error.code() is grpc.StatusCode.INVALID_ARGUMENT:
        return InvalidFieldError("open.session_id", said)
    extra = {"machine_id": machine.machine_id, "session_id": session_id, "code": error.code().name, "error": said}
    log.warning("a session cannot be reached", extra=extra)
    return SessionUnreachableError(session_id, machine.machine_id)


def _is_being_cancelled() -> bool:
    """True if somebody has cancelled the present task."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
