"""The network among the nodes of reservations of several machines: passes packets on between their executors.

For each lease of such a gang a task keeps one call of Exchange to its machine, for as long as the lease stands. If the
call breaks it is made again; if vmpool ends, the nodes' connections wait until its successor has done so.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import grpc
from wavepool.executor.v1 import session_pb2, session_pb2_grpc

from servicekit.logging import get_logger
from servicekit.rpc.channels import open_channel
from services.vmpool import metrics
from services.vmpool.errors import NotFoundError
from services.vmpool.lifecycle.gang_switch import Port, Switch
from vocabulary.backoff import Backoff
from vocabulary.bearer import authorization

if TYPE_CHECKING:
    from datetime import datetime

    from servicekit.clock import Clock
    from services.vmpool.machines.lease import Lease
    from services.vmpool.machines.machine import Machine
    from services.vmpool.store.lease_store import LeaseStore
    from services.vmpool.store.machine_store import MachineStore

log = get_logger(__name__)

BACKOFF = Backoff(timedelta(seconds=0.25), timedelta(seconds=4))
"""Between two tries; a session is opened some seconds after its lease, and its gang waits for it."""
SWEEP = timedelta(seconds=30)
"""Without any gang the leases are read so seldom, for those that another vmpool placed while it led."""


class _NodeRefusedError(Exception):
    """A machine answers, and does not join a node."""


@dataclass(eq=False)
class _Node:
    """A lease that is being kept joined to its gang."""

    lease: Lease
    switch: Switch
    task: asyncio.Task[None] | None = field(default=None, init=False)


class GangLinks:
    """Keeps the nodes of all gangs of reservations joined. `run_once` begins and ends with their leases."""

    name = "gang_links"

    def __init__(self, leases: LeaseStore, machines: MachineStore, clock: Clock, backoff: Backoff = BACKOFF) -> None:
        self._leases = leases
        self._machines = machines
        self._clock = clock
        self._backoff = backoff
        self._nodes: dict[str, _Node] = {}
        self._known_gangs: int | None = None
        self._next_sweep: datetime | None = None

    async def run_once(self) -> None:
        """Let in the nodes whose leases are new, and let go those whose leases are over."""
        now, placed = self._clock.now(), self._leases.gangs_placed
        is_due = self._next_sweep is None or now >= self._next_sweep
        if not (self._nodes or placed != self._known_gangs or is_due):
            return
        self._known_gangs, self._next_sweep = placed, now + SWEEP
        standing = {lease.lease_id: lease for lease in await self._leases.of_reserved_gangs() if not lease.is_due(now)}
        await self._let_go([lease_id for lease_id in self._nodes if lease_id not in standing])
        switches = {node.lease.gang_id: node.switch for node in self._nodes.values()}
        for lease_id, lease in standing.items():
            if lease_id not in self._nodes:
                node = _Node(lease, switches.setdefault(lease.gang_id, Switch()))
                node.task = asyncio.create_task(self._keep_joined(node))
                self._nodes[lease_id] = node

    async def close(self) -> None:
        """Let all nodes go."""
        await self._let_go(list(self._nodes))

    async def _let_go(self, lease_ids: list[str]) -> None:
        tasks = [task for lease_id in lease_ids if (task := self._nodes.pop(lease_id).task)]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _keep_joined(self, node: _Node) -> None:
        failures = 0
        while True:
            port: Port | None = None
            try:
                machine = await self._machines.get(node.lease.machine_id)
                async with open_channel(machine.endpoint) as channel:
                    call, port = await _joined(channel, machine, node)
                    failures = 0
                    with metrics.gang_nodes.track_inprogress():
                        await _carry(call, port, node.switch)
            except (grpc.aio.AioRpcError, _NodeRefusedError, NotFoundError) as error:
                said = error.details() if isinstance(error, grpc.aio.AioRpcError) else str(error)
                extra = {"lease_id": node.lease.lease_id, "machine_id": node.lease.machine_id, "error": said}
                # A session is opened some time after its lease.
                (log.warning if port else log.debug)("a node is not joined to its gang", extra=extra)
            except Exception:
                # Nobody waits for this task: it would end without a word, and the node stay parted from its gang.
                log.exception("a node cannot be joined to its gang", extra={"lease_id": node.lease.lease_id})
            failures += 1
            await asyncio.sleep(self._backoff.pause(failures).total_seconds())


async def _joined(channel: grpc.aio.Channel, machine: Machine, node: _Node) -> tuple[Any, _QueuePort]:
    """A call for the node's packets; raises AioRpcError, _NodeRefusedError."""
    stub: Any = session_pb2_grpc.SessionServiceStub(channel)
    call = stub.Exchange(metadata=(authorization(machine.token),))
    # If the call has ended by now, reading it says why.
    with suppress(asyncio.InvalidStateError):
        await call.write(session_pb2.ExchangeRequest(fencing_token=node.lease.fencing_token))
    first = await call.read()
    if first is grpc.aio.EOF:
        raise _NodeRefusedError("the machine ended the call without a word")
    try:
        port = _QueuePort(first.address)
    except ValueError as error:
        raise _NodeRefusedError(f"the machine says that its address is {first.address[:80]!r}") from error
    if not node.switch.join(port):
        raise _NodeRefusedError(f"another node of its gang has the address {first.address}")
    return call, port


async def _carry(call: Any, port: _QueuePort, switch: Switch) -> None:  # noqa: ANN401 - grpc's types lack the call
    """Pass packets on both ways until the call ends; raises AioRpcError."""
    sending = asyncio.create_task(_send(call, port))
    try:
        while (answer := await call.read()) is not grpc.aio.EOF:
            for fate, count in switch.pass_on(port, answer.packets).items():
                metrics.gang_packets.labels(fate).inc(count)
    finally:
        switch.leave(port)
        sending.cancel()
        call.cancel()
        await asyncio.wait({sending})


async def _send(call: Any, port: _QueuePort) -> None:  # noqa: ANN401 - as above
    # The machine has ended the call if it cannot be written to: whoever reads it learns why.
    with suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):
        while True:
            await port.filled.wait()
            port.filled.clear()
            while packets := port.take():
                metrics.gang_bytes.inc(sum(map(len, packets)))
                await call.write(session_pb2.ExchangeRequest(packets=packets))


class _QueuePort(Port):
    """A port whose packets a task waits for."""

    def __init__(self, address: str) -> None:
        self.filled = asyncio.Event()
        super().__init__(address, self.filled.set)
