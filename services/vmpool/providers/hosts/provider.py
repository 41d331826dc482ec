"""Machines that are hosts of a list: each is one machine at a time, for as long as the pool wants it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import grpc
from wavepool.vmpool.v1 import machine_host_pb2 as pb
from wavepool.vmpool.v1 import machine_host_pb2_grpc as pb_grpc

from servicekit.rpc.channels import open_channel
from servicekit.service_token import ServiceToken
from services.vmpool.errors import ProviderError
from services.vmpool.fault import Fault
from services.vmpool.providers.provider import (
    UNNAMED,
    Observation,
    Offer,
    Order,
    ProviderFinding,
    ProviderState,
    Resource,
    Scope,
)
from vocabulary.bearer import authorization

END_SECONDS = 120.0
"""Time limit for starting or ending an executor; a host gives up before."""
_AWAY = frozenset({grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED})
_REFUSED = frozenset({grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED})


@dataclass(frozen=True, kw_only=True)
class Host:
    """A host of the list: the address and port of its `host.py`, and what it is as a machine."""

    address: str
    port: int
    token: ServiceToken
    gpu_type: str
    gpu_count: int
    price_micros_per_hour: int = 0


class HostsProvider:
    """Makes hosts into machines. A host's name is the backend of its machine, and the machine's id at the provider."""

    name = "hosts"
    ends_with_pool = False

    def __init__(self, hosts: Mapping[str, Host], *, start_timeout: timedelta, request_timeout: timedelta) -> None:
        self._hosts = hosts
        self.start_timeout = start_timeout
        counts, types = ({host.gpu_count for host in hosts.values()}, {host.gpu_type for host in hosts.values()})
        self.scope = Scope(tuple(sorted(counts)), tuple(hosts), gpu_types=tuple(sorted(types)), is_spot=False)
        self._request_seconds = request_timeout.total_seconds()
        self._channels = {name: open_channel(f"{host.address}:{host.port}") for name, host in hosts.items()}
        self._stubs = {name: pb_grpc.MachineHostServiceStub(channel) for name, channel in self._channels.items()}

    async def start(self) -> None:
        """Do nothing: a host that is away now may come back, and `diagnose` reports those that refuse."""

    async def close(self) -> None:
        """Close the connections. Machines stay as they are."""
        await asyncio.gather(*(channel.close() for channel in self._channels.values()))

    async def offers(self) -> Sequence[Offer]:
        """An offer for each host, available if it answers and is free; cheapest first."""
        machines, _ = await self._asked(self._hosts)
        free = {name for name, machine in machines.items() if not machine.machine_id}
        offers = [
            Offer(self.name, host.gpu_type, host.gpu_count, host.price_micros_per_hour, name, available=name in free)
            for name, host in self._hosts.items()
        ]
        return sorted(offers, key=lambda offer: offer.price_micros_per_gpu_hour)

    def resource_name(self, machine_id: str) -> str:
        """Its id: the host knows it by that."""
        return machine_id

    async def provision(self, order: Order) -> None:
        """Ask the host of the order's backend, or any free one of that type and size."""
        fitting = [name for name, host in self._hosts.items() if order.backend in {"", name} and _fits(host, order)]
        machines, faults = await self._asked(fitting)
        if any(machine.machine_id == order.machine_id for machine in machines.values()):
            return
        # One that does not answer may have the machine already.
        _raise_first(faults)
        for name, machine in machines.items():
            if not machine.machine_id and await self._started_on(name, order):
                return
        which = f"host {order.backend!r}" if order.backend else f"no host of {order.gpu_count} x {order.gpu_type}"
        raise ProviderError(f"{which} is {'not ' if order.backend else ''}free", Fault.NO_CAPACITY)

    async def observe(self, machine_id: str, resource: Resource = UNNAMED) -> Observation:
        """The state that its host reports; GONE if the host has another, or none, or left the list."""
        found = await self._found(machine_id, resource)
        if found is None:
            return Observation(ProviderState.GONE, reason="no host of the list is this machine")
        name, answer = found
        host = self._hosts[name]
        status = answer.exit_status if answer.HasField("exit_status") else None
        seen = Observation(
            ProviderState.UNKNOWN,
            stage=f"the host calls it {answer.state!r}",
            backend=name,
            price_micros_per_hour=host.price_micros_per_hour,
            resource=Resource(resource_id=name),
        )
        match answer.state:
            case ProviderState.RUNNING:
                return replace(seen, state=ProviderState.RUNNING, stage="", endpoint=f"{host.address}:{answer.port}")
            case ProviderState.PENDING:
                return replace(seen, state=ProviderState.PENDING, stage=answer.stage)
            case ProviderState.ENDED:
                ended = replace(seen, state=ProviderState.ENDED, stage="", reason=answer.reason, exit_status=status)
                return replace(ended, fault=Fault.EXECUTOR_EXITED)
            case _:
                return seen

    async def release(self, machine_id: str, resource: Resource = UNNAMED) -> None:
        """Have its host end it. A host that left the list is its operator's to look after."""
        found = await self._found(machine_id, resource)
        if found is not None:
            request = pb.EndMachineRequest(machine_id=machine_id)
            await self._call(found[0], "EndMachine", request, END_SECONDS)

    async def list_all(self) -> Sequence[str]:
        """Ids of the machines of the hosts that answer."""
        machines, _ = await self._asked(self._hosts)
        return [machine.machine_id for machine in machines.values() if machine.machine_id]

    async def order_of(self, machine_id: str) -> Order | None:
        """The order, as its host keeps it."""
        found = await self._found(machine_id, UNNAMED)
        if found is None:
            return None
        return Order(machine_id, found[1].gpu_type, found[1].gpu_count, found[1].token)

    async def logs(self, machine_id: str, resource: Resource = UNNAMED, *, follow: bool) -> AsyncIterator[bytes]:
        """The executor's output, as its host keeps it; ProviderError if no host has any."""
        found = await self._found(machine_id, resource)
        name = found[0] if found else resource.resource_id
        if name not in self._hosts:
            raise ProviderError(f"no host of the list has output of machine {machine_id}")
        request = pb.ReadLogRequest(machine_id=machine_id, follow=follow)
        try:
            async for part in self._stubs[name].ReadLog(request, metadata=self._metadata(name)):
                yield part.piece
        except grpc.aio.AioRpcError as error:
            raise _said_by(name, error) from error

    async def diagnose(self) -> Sequence[ProviderFinding]:
        """Ask each host what it is now."""
        machines, faults = await self._asked(self._hosts)
        return [
            self._fault(name, faults[name]) if name in faults else self._well(name, machines[name])
            for name in self._hosts
        ]

    def _well(self, name: str, machine: pb.GetHostResponse) -> ProviderFinding:
        host = self._hosts[name]
        said = f"it is machine {machine.machine_id}" if machine.machine_id else "free"
        return ProviderFinding(f"host {name}", ok=True, message=f"{said} ({host.gpu_count} x {host.gpu_type})")

    def _fault(self, name: str, fault: Exception) -> ProviderFinding:
        host = self._hosts[name]
        where = f"{host.address}:{host.port}"
        remedy = f"start `python -m services.vmpool.providers.hosts` there; VMPOOL_HOSTS_FILE expects it at {where}"
        if isinstance(fault, ProviderError) and fault.fault is Fault.MISCONFIGURED:
            remedy = f"give the host and VMPOOL_HOSTS_FILE the same token ({host.token.file})"
        elif isinstance(fault, ProviderError):
            remedy = f"see whether `services.vmpool.providers.hosts` of this version answers at {where}, and its log"
        return ProviderFinding(f"host {name}", ok=False, message=str(fault), remedy=remedy)

    async def _started_on(self, name: str, order: Order) -> bool:
        """True once the host is the machine; False if another was faster."""
        request = pb.StartMachineRequest(
            machine_id=order.machine_id, gpu_type=order.gpu_type, gpu_count=order.gpu_count, token=order.token
        )
        try:
            await self._call(name, "StartMachine", request, END_SECONDS)
        except ProviderError as error:
            if error.fault is Fault.NO_CAPACITY:
                return False
            raise
        return True

    async def _found(self, machine_id: str, resource: Resource) -> tuple[str, pb.GetHostResponse] | None:
        """The host that is this machine; raises OSError or ProviderError if one that does not answer may be it."""
        known = resource.resource_id
        machines, faults = await self._asked([known] if known in self._hosts else [] if known else self._hosts)
        for name, machine in machines.items():
            if machine.machine_id == machine_id:
                return name, machine
        _raise_first(faults)
        return None

    async def _asked(self, names: Iterable[str]) -> tuple[dict[str, pb.GetHostResponse], dict[str, Exception]]:
        """What each host is now, and why others do not say so."""
        machines: dict[str, pb.GetHostResponse] = {}
        faults: dict[str, Exception] = {}

        async def ask(name: str) -> None:
            try:
                machines[name] = await self._call(name, "GetHost", pb.GetHostRequest(), self._request_seconds)
            except (OSError, ProviderError) as error:
                faults[name] = error

        await asyncio.gather(*map(ask, names))
        return machines, faults

    async def _call(self, name: str, method: str, request: object, timeout_seconds: float) -> Any:  # noqa: ANN401 - the method's answer
        """Raises ProviderError if the host refuses, and OSError if it does not answer."""
        try:
            call = getattr(self._stubs[name], method)
            return await call(request, metadata=self._metadata(name), timeout=timeout_seconds)
        except grpc.aio.AioRpcError as error:
            raise _said_by(name, error) from error

    def _metadata(self, name: str) -> tuple[tuple[str, str], ...]:
        return (authorization(self._hosts[name].token.current()),)


def _fits(host: Host, order: Order) -> bool:
    return host.gpu_type == order.gpu_type and host.gpu_count == order.gpu_count


def _raise_first(faults: Mapping[str, Exception]) -> None:
    for fault in faults.values():
        raise fault


def _said_by(name: str, error: grpc.aio.AioRpcError) -> Exception:
    said = f"host {name}: {error.details() or error.code().name}"
    if error.code() in _AWAY:
        return OSError(said)
    if error.code() is grpc.StatusCode.ALREADY_EXISTS:
        return ProviderError(said, Fault.NO_CAPACITY)
    return ProviderError(said, Fault.MISCONFIGURED if error.code() in _REFUSED else Fault.PROVIDER)
