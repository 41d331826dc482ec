"""A scripted provider: machines come up when the test says so, and calls fail on demand."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from services.vmpool.errors import ProviderError
from services.vmpool.lifecycle.executor_client import ExecutorUnreachableError, Health
from services.vmpool.machines.load import Load
from services.vmpool.machines.machine import Inventory
from services.vmpool.providers.provider import UNNAMED, Observation, Offer, Order, ProviderState, Resource, Scope

RUNNING = Observation(ProviderState.RUNNING, endpoint="127.0.0.1:1")


@dataclass
class ScriptedProvider:
    """`observations` overrides a machine's observed state; `failing` maps method names to errors to raise.

    It reports a `scope` once a test has set one.
    """

    name: str = "scripted"
    pool_name: str = "wavepool"
    ends_with_pool: bool = True
    keeps_reserved: bool = False
    gpu_types: Sequence[str] = ("MI300X", "MI210")
    price_micros_per_hour: int = 3_600_000_000
    machines: dict[str, Order] = field(default_factory=dict[str, "Order"])
    names: dict[str, str] = field(default_factory=dict[str, str])
    observations: dict[str, Observation] = field(default_factory=dict[str, Observation])
    failing: dict[str, Exception] = field(default_factory=dict[str, Exception])
    provisioned: list[str] = field(default_factory=list[str])
    empty: set[str] = field(default_factory=set[str])
    start_timeout: timedelta = timedelta(seconds=120)
    printed: dict[str, bytes] = field(default_factory=dict[str, bytes])
    still_to_print: dict[str, list[bytes]] = field(default_factory=dict[str, list[bytes]])
    silent_logs: set[str] = field(default_factory=set[str])
    minimum_billed: timedelta = timedelta(0)
    offered: Sequence[Offer] = ()
    loses_answers: bool = False
    """Orders arrive, but the caller hears nothing."""
    slow_list: asyncio.Event | None = None
    slow_order: asyncio.Event | None = None
    """Orders wait until it is set; they arrive even if the caller gives up, as over a network."""

    def __post_init__(self) -> None:
        self.scope: Scope

    async def start(self) -> None:
        self._fail("start")

    async def close(self) -> None:
        pass

    async def offers(self) -> Sequence[Offer]:
        self._fail("offers")
        return self.offered or [
            Offer(self.name, gpu_type, 1, self.price_micros_per_hour, minimum_billed=self.minimum_billed)
            for gpu_type in self.gpu_types
        ]

    def resource_name(self, machine_id: str) -> str:
        return f"{self.pool_name}-{machine_id}"

    async def provision(self, order: Order) -> None:
        self._fail("provision")
        if self.slow_order is not None:
            await asyncio.shield(asyncio.ensure_future(self._arrive(order, self.slow_order)))
        else:
            self._make(order)
        if self.loses_answers:
            raise TimeoutError("no answer")

    async def _arrive(self, order: Order, when: asyncio.Event) -> None:
        await when.wait()
        self._make(order)

    def _make(self, order: Order) -> None:
        self.provisioned.append(order.machine_id)
        self.machines.setdefault(order.machine_id, order)
        self.names.setdefault(order.machine_id, order.name or self.resource_name(order.machine_id))

    def _has(self, machine_id: str, resource: Resource) -> bool:
        wanted = resource.name or self.resource_name(machine_id)
        return machine_id in self.machines and self.names.get(machine_id, wanted) == wanted

    async def observe(self, machine_id: str, resource: Resource = UNNAMED) -> Observation:
        self._fail("observe")
        if not self._has(machine_id, resource):
            return Observation(ProviderState.GONE, reason="no such machine")
        return self.observations.get(machine_id, RUNNING)

    async def release(self, machine_id: str, resource: Resource = UNNAMED) -> None:
        self._fail("release")
        if self._has(machine_id, resource):
            del self.machines[machine_id]

    async def list_all(self) -> Sequence[str]:
        self._fail("list_all")
        if self.slow_list is not None:
            await self.slow_list.wait()
        return list(self.machines)

    async def order_of(self, machine_id: str) -> Order | None:
        self._fail("order_of")
        return None if machine_id in self.empty else self.machines.get(machine_id)

    async def logs(self, machine_id: str, resource: Resource = UNNAMED, *, follow: bool) -> AsyncIterator[bytes]:
        self._fail("logs")
        if machine_id not in self.machines:
            raise ProviderError(f"no log of {machine_id}")
        if machine_id in self.printed:
            yield self.printed[machine_id]
        for piece in self.still_to_print.get(machine_id, ()) if follow else ():
            yield piece
        if follow and machine_id in self.silent_logs:
            await asyncio.Event().wait()

    def _fail(self, method: str) -> None:
        if method in self.failing:
            raise self.failing[method]


@dataclass
class ScriptedExecutors:
    """Stands in for the executors of all machines: each answers unless `silent`, which callers notice by `hang`."""

    silent: bool = False
    hang: Callable[[], None] = lambda: None
    runs_in_flight: int = 0
    unfit_reason: str = ""
    load: Load = field(default_factory=Load)
    inventory: Inventory = field(default_factory=lambda: Inventory(device="cpu", device_title="Scripted"))

    async def health(self, endpoint: str, token: str) -> Health:
        if self.silent:
            self.hang()
            raise ExecutorUnreachableError(f"{endpoint} is silent")
        return Health(self.inventory, self.runs_in_flight, self.unfit_reason, self.load)

    async def close(self) -> None:
        pass
