"""The loop that carries out what `sizing` decides: it asks for machines, and drains those that are to go."""

from __future__ import annotations

import asyncio
import secrets
from typing import TYPE_CHECKING

from servicekit.logging import get_logger
from services.vmpool.errors import ProviderError, StaleMachineError
from services.vmpool.machine import ON_THE_WAY, Machine
from services.vmpool.sizing import Plan, Pool, machines_wanted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from servicekit.clock import Clock
    from services.vmpool.demand_board import DemandBoard
    from services.vmpool.providers.provider import Offer
    from services.vmpool.providers.provider_set import ProviderSet
    from services.vmpool.sizing import Demand, Limits
    from services.vmpool.store.machine_store import MachineStore

log = get_logger(__name__)

TOKEN_BYTES = 32


class Sizer:
    """Keeps the number of machines right."""

    name = "sizer"

    def __init__(
        self,
        machines: MachineStore,
        demand: DemandBoard,
        providers: ProviderSet,
        limits: Limits,
        clock: Clock,
        new_id: Callable[[str], str],
    ) -> None:
        self._machines = machines
        self._demand = demand
        self._providers = providers
        self._limits = limits
        self._clock = clock
        self._new_id = new_id
        self._one_at_a_time = asyncio.Lock()

    async def run_once(self) -> None:
        """Bring the pool to size."""
        await self.resize()

    async def resize(self) -> tuple[int, str]:
        """Bring the pool to size; tells how many machines are on their way, and why demand goes unmet if it does."""
        async with self._one_at_a_time:
            now = self._clock.now()
            present = await self._machines.unreleased()
            demands = self._demand.present(now)
            plan = machines_wanted(demands, Pool(present, await self._machines.failures()), self._limits, now)
            await self._release(plan, present, demands)
            started, blocked_reason = await self._start(plan)
        on_the_way = sum(machine.state in ON_THE_WAY for machine in present) + started
        return on_the_way, plan.blocked_reason or blocked_reason

    async def _start(self, plan: Plan) -> tuple[int, str]:
        if not plan.start:
            return 0, ""
        offers, missing = await self._offers()
        started = 0
        for gpu_type in plan.start:
            offer = next((offer for offer in offers if offer.gpu_type == gpu_type and offer.available), None)
            if offer is None:
                missing = missing or f"no provider offers {gpu_type} now (asked: {', '.join(self._providers.names)})"
            else:
                await self._request(offer)
                started += 1
        return started, missing

    async def _offers(self) -> tuple[list[Offer], str]:
        offers: list[Offer] = []
        missing = ""
        for provider in self._providers:
            try:
                offers += await provider.offers()
            except (ProviderError, OSError) as error:
                missing = f"provider {provider.name} makes no offers now: {error}"
        return offers, missing

    async def _request(self, offer: Offer) -> None:
        now = self._clock.now()
        machine = Machine(
            machine_id=self._new_id("mach"),
            provider=offer.provider,
            gpu_type=offer.gpu_type,
            gpu_count=offer.gpu_count,
            token=secrets.token_urlsafe(TOKEN_BYTES),
            price_micros_per_hour=offer.price_micros_per_hour,
            minimum_billed=offer.minimum_billed,
            billing_increment=offer.billing_increment,
            backend=offer.backend,
            region=offer.region,
            spot=offer.spot,
            create_time=now,
            state_time=now,
            reason="jobs wait for it",
            occupied=(0,) * offer.gpu_count,
        )
        await self._machines.add(machine, machine.reason)
        log.info("a machine is wanted", extra={"machine_id": machine.machine_id, "gpu_type": machine.gpu_type})

    async def _release(self, plan: Plan, present: Sequence[Machine], demands: Sequence[Demand]) -> None:
        for machine in present:
            if machine.machine_id not in plan.release:
                continue
            reason = "it gives way to a GPU type that is waited for" if demands else "idle"
            try:
                await self._machines.change(machine, machine.drain(self._clock.now(), reason))
            except StaleMachineError:
                log.info("an idle machine was taken just in time", extra={"machine_id": machine.machine_id})
