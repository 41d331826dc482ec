"""Gives machines back to their providers, and finds the cost of machines whose orders were given up."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

from services.vmpool.lifecycle.machine_order import placed, resource_of
from services.vmpool.machines.machine import MachineState
from services.vmpool.providers.provider import ProviderState

if TYPE_CHECKING:
    from datetime import datetime

    from servicekit.clock import Clock
    from services.vmpool.lifecycle.machine_poller import MachinePoller
    from services.vmpool.lifecycle.record import Record
    from services.vmpool.machines.machine import Machine
    from services.vmpool.providers.provider_set import ProviderSet

ANSWER_TIME = timedelta(seconds=60)
"""Time in which an unanswered order may still arrive; until then its machine does not count as released."""
RELEASE_SECONDS = 900.0
"""Time limit for one try to release a machine, so that a try that hangs is repeated."""

_NOTHING_THERE = frozenset({ProviderState.GONE, ProviderState.UNKNOWN})


class Releaser:
    """Releases machines. Every step may be repeated."""

    def __init__(
        self,
        providers: ProviderSet,
        record: Record,
        poller: MachinePoller,
        clock: Clock,
        release_seconds: float = RELEASE_SECONDS,
    ) -> None:
        self._providers = providers
        self._record = record
        self._poller = poller
        self._clock = clock
        self._release_seconds = release_seconds
        self._start_time = clock.now()
        self._unanswered: dict[str, datetime] = {}

    def order_sent(self, machine_id: str) -> None:
        """Note that an order was sent. It may arrive even if the caller gets no answer."""
        self._unanswered[machine_id] = self._clock.now()

    def order_answered(self, machine_id: str) -> None:
        """Note that the provider has taken or refused the order."""
        self._unanswered.pop(machine_id, None)

    async def release(self, machine: Machine) -> None:
        """End the machine at its provider and record that it is gone; raises ProviderError or OSError if that fails.

        A machine whose order was not answered stays in the record and is released again until the order can no longer
        arrive. If this vmpool ends before, the next one goes on.
        """
        machine = await self._with_its_cost(machine)
        try:
            async with asyncio.timeout(self._release_seconds):
                await self._providers.named(machine.provider).release(machine.machine_id, resource_of(machine))
        finally:
            self._poller.forget(machine.machine_id)
        now = self._clock.now()
        if self._may_still_arrive(machine, now):
            return
        draining = machine.state is MachineState.DRAINING
        await self._record.change(machine, machine.stop(now) if draining else machine.release(now))
        self.order_answered(machine.machine_id)

    def _may_still_arrive(self, machine: Machine, now: datetime) -> bool:
        """True if the provider shows nothing of the machine but an unanswered order may still reach it."""
        if machine.provision_time is not None:
            return False
        # Of an earlier vmpool we know only that it did not complete the release.
        earlier = self._start_time if machine.state_time < self._start_time else None
        sent = self._unanswered.get(machine.machine_id, earlier)
        return sent is not None and abs(now - sent) < ANSWER_TIME

    async def _with_its_cost(self, machine: Machine) -> Machine:
        """The machine with its cost, if its order has come through although it was given up."""
        if machine.provision_time is not None and machine.rented:
            return machine
        seen = await self._poller.poll(machine)
        if seen.state in _NOTHING_THERE or not seen.rented:
            return machine
        found = placed(machine, seen).come_through()
        return await self._record.change(machine, found, "its order had succeeded after all")
