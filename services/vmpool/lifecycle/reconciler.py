"""The loop that keeps the record and the machines in agreement.

Every pass takes each unreleased machine one step on. All steps run at once, so a slow one holds up no other. `orphans`
handles machines that a provider has but the record does not.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence

from servicekit.logging import get_logger
from services.vmpool import metrics
from services.vmpool.errors import ProviderError, StaleMachineError
from services.vmpool.lifecycle.driver import MachineDriver
from services.vmpool.lifecycle.orphans import Orphans
from services.vmpool.machines.machine import ON_THE_WAY, Machine, MachineState
from services.vmpool.providers.provider import Outliving
from services.vmpool.providers.provider_set import ProviderSet
from services.vmpool.store.lease_store import LeaseStore
from services.vmpool.store.machine_store import MachineStore

log = get_logger(__name__)

PASS_SECONDS = 1.0
"""Time that a pass waits for its slowest machine before the next pass looks at the others."""

SOON_SECONDS = 0.05
"""Time between two looks at a machine on its way, so that nobody waits long for one that is ready."""

CLOSE_ATTEMPTS = 3

ORDER_SECONDS = 30.0
"""Time that a stopping pool waits for the answers to its orders, so that it can release their machines.

An order that is not answered by then stays in the record, and the next vmpool releases its machine.
"""


class Reconciler:
    """Drives all machines."""

    name = "reconciler"

    def __init__(
        self,
        machines: MachineStore,
        leases: LeaseStore,
        providers: ProviderSet,
        driver: MachineDriver,
        orphans: Orphans,
        wake: asyncio.Event,
        pass_seconds: float = PASS_SECONDS,
        order_seconds: float = ORDER_SECONDS,
    ) -> None:
        self._wake = wake
        self._pass_seconds = pass_seconds
        self._order_seconds = order_seconds
        self._machines = machines
        self._leases = leases
        self._providers = providers
        self._driver = driver
        self._orphans = orphans
        self._steps: dict[str, asyncio.Task[None]] = {}
        self._orders: set[asyncio.Task[None]] = set()
        self._look: asyncio.Task[None] | None = None

    async def run_once(self) -> None:
        """Take every machine one step on."""
        for lease in await self._leases.expire_due():
            log.warning("a lease expired", extra={"lease_id": lease.lease_id, "job_id": lease.job_id})
        await self._look_for_orphans()
        machines = await self._machines.unreleased()
        metrics.show_machines(machines)
        for machine in machines:
            if machine.machine_id not in self._steps:
                self._begin_step(machine)
        if self._steps:
            await asyncio.wait(self._steps.values(), timeout=self._pass_seconds)
        if any(machine.state in ON_THE_WAY for machine in machines):
            asyncio.get_running_loop().call_later(SOON_SECONDS, self._wake.set)

    async def look_around(self) -> None:
        """Adopt machines that the record has lost, before anybody can ask for machines and exceed the limit."""
        await self._orphans.look()

    async def close(self) -> None:
        """End the steps under way, and end all machines of the providers that end with the pool.

        Machines with reservations are left if their provider can keep them.
        """
        if self._orders:
            # A cancelled order could still reach the provider, after the machine was released.
            await asyncio.wait(self._orders, timeout=self._order_seconds)
        steps = [*self._steps.values(), *([self._look] if self._look else [])]
        for step in steps:
            step.cancel()
        await asyncio.gather(*steps, self._orphans.close(), return_exceptions=True)
        for attempt in range(CLOSE_ATTEMPTS if any(each.ends_with_pool for each in self._providers) else 0):
            remaining = self._ending(await self._machines.unreleased(), log_reserved=not attempt)
            await asyncio.gather(*(self._guarded(machine, self._driver.end(machine)) for machine in remaining))

    def _ending(self, machines: Sequence[Machine], *, log_reserved: bool) -> Sequence[Machine]:
        """The machines that end with the pool."""
        ending = {provider.name for provider in self._providers if provider.ends_with_pool}
        keeping = {p.name for p in self._providers if isinstance(p, Outliving) and p.keeps_reserved}
        found = [machine for machine in machines if machine.provider in ending]
        for machine in found if log_reserved else ():
            if machine.reservation_ids:
                fate = "goes on without the pool" if machine.provider in keeping else "ends with the pool"
                ids = list(dict.fromkeys(machine.reservation_ids))
                extra = {"machine_id": machine.machine_id, "reservation_ids": ids}
                log.warning("machine %s %s, and so do its reservations", machine.machine_id, fate, extra=extra)
        return [machine for machine in found if not (machine.reservation_ids and machine.provider in keeping)]

    async def _look_for_orphans(self) -> None:
        """Look for orphans. If a provider's list is slow, the look goes on during later passes."""
        if self._look is None:
            self._look = asyncio.create_task(self._orphans.look())
            await asyncio.wait({self._look}, timeout=self._pass_seconds)
        if self._look.done():
            self._look = None

    def _begin_step(self, machine: Machine) -> None:
        step = asyncio.create_task(self._guarded(machine, self._driver.drive(machine)))
        self._steps[machine.machine_id] = step
        if machine.state is MachineState.REQUESTED:
            self._orders.add(step)
            step.add_done_callback(self._orders.discard)
        step.add_done_callback(lambda _: self._steps.pop(machine.machine_id, None))

    async def _guarded(self, machine: Machine, step: Awaitable[None]) -> None:
        try:
            await step
        except StaleMachineError:
            self._wake.set()
        except (ProviderError, OSError) as error:
            metrics.provider_errors.labels(machine.provider).inc()
            log.warning("the provider failed", extra={"machine_id": machine.machine_id, "error": str(error)})
        except Exception:
            log.exception("a machine's step failed", extra={"machine_id": machine.machine_id})
