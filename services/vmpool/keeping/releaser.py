"""Gives machines back to their providers, and finds out what those that nobody saw have cost."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from services.vmpool.keeping.machine_order import placed
from services.vmpool.machines.machine import MachineState
from services.vmpool.providers.provider import ProviderState

if TYPE_CHECKING:
    from servicekit.clock import Clock
    from services.vmpool.keeping.observer import Observer
    from services.vmpool.keeping.record import Record
    from services.vmpool.machines.machine import Machine
    from services.vmpool.providers.provider_set import ProviderSet

RELEASE_SECONDS = 900.0
"""How long one try to release a machine may take, so that one that hangs is repeated."""

_NOTHING_THERE = frozenset({ProviderState.GONE, ProviderState.UNKNOWN})


class Releaser:
    """Releases machines; every step may be repeated."""

    def __init__(self, providers: ProviderSet, record: Record, observer: Observer, clock: Clock) -> None:
        self._providers = providers
        self._record = record
        self._observer = observer
        self._clock = clock

    async def release(self, machine: Machine) -> None:
        """End the machine at its provider and write down that it is gone; ProviderError, OSError where it is not."""
        machine = await self._with_its_cost(machine)
        async with asyncio.timeout(RELEASE_SECONDS):
            await self._providers.named(machine.provider).release(machine.machine_id)
        now = self._clock.now()
        draining = machine.state is MachineState.DRAINING
        await self._record.change(machine, machine.stop(now) if draining else machine.release(now))
        self._observer.forget(machine.machine_id)

    async def _with_its_cost(self, machine: Machine) -> Machine:
        """An order that was given up before the provider told of a machine may have come through all the same."""
        if machine.provision_time is not None and machine.rented:
            return machine
        seen = await self._observer.observe(machine)
        if seen.state in _NOTHING_THERE or not seen.rented:
            return machine
        found = placed(machine, seen).come_through()
        return await self._record.change(machine, found, "its order had come through after all")
