"""The loop that carries out the decisions of `sizing`: it asks for machines, and drains those that are to go."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from servicekit.clock import Clock
from servicekit.logging import get_logger
from services.vmpool import metrics
from services.vmpool.capacity.funding import Funding
from services.vmpool.capacity.offer_board import OfferBoard
from services.vmpool.errors import PoolLimitError, StaleMachineError
from services.vmpool.machines.machine import ON_THE_WAY, Machine, Origin
from services.vmpool.machines.machine_token import MachineTokens
from services.vmpool.machines.offer import Source
from services.vmpool.policy.demand_board import DemandBoard
from services.vmpool.policy.failures import Failures, sources_backing_off, trials_left
from services.vmpool.policy.machine_budget import Funds, never_paid, reserve_micros
from services.vmpool.policy.offer_choice import Market
from services.vmpool.policy.sizing import Limits, Needs, Plan, Pool, Start, machines_wanted, pool_needs
from services.vmpool.providers.provider_set import ProviderSet
from services.vmpool.store.machine_store import MachineStore
from services.vmpool.store.pace_store import PaceStore

log = get_logger(__name__)

_OWN = "a job waits for a machine of its own"
_REASONS = {Origin.DEMAND: "jobs wait for it", Origin.SCHEDULE: "the schedule keeps it warm"}


class Sizer:
    """Keeps the number of machines right."""

    name = "sizer"

    def __init__(
        self,
        providers: ProviderSet,
        machines: MachineStore,
        demand: DemandBoard,
        paces: PaceStore,
        offers: OfferBoard,
        funding: Funding,
        tokens: MachineTokens,
        limits: Limits,
        clock: Clock,
        new_id: Callable[[str], str],
    ) -> None:
        self._providers = providers
        self._machines = machines
        self._demand = demand
        self._paces = paces
        self._offers = offers
        self._funding = funding
        self._tokens = tokens
        self._limits = limits
        self._clock = clock
        self._new_id = new_id
        self._start_time = clock.now()
        self._found_well: dict[str, datetime] = {}
        self._stopped = frozenset["Source"]()
        self.one_at_a_time = asyncio.Lock()
        """Held while machines are counted and started."""

    async def run_once(self) -> None:
        """Bring the pool to size."""
        await self.resize()

    async def resize(self) -> tuple[int, Plan]:
        """Bring the pool to size; returns the number of machines on their way, and the plan with its obstacles."""
        async with self.one_at_a_time:
            now = self._clock.now()
            pool = await self._pool()
            needs = pool_needs(self._demand.present(now), pool, self._limits, now)
            market, funds = await self._supply(needs)
            plan = machines_wanted(needs, pool, market, funds, self._limits, now)
            await self._release(plan, pool.machines)
            started = [await self._request(start) for start in plan.start]
        on_the_way = sum(machine.state in ON_THE_WAY for machine in pool.machines) + sum(started)
        return on_the_way, plan

    def ordered(self, start: Start) -> Machine:
        """The machine to add to the record, with a new id."""
        machine_id = self._new_id("mach")
        token = self._tokens.of(machine_id)
        machine = ordered_machine(start, machine_id, token, self._limits, self._clock.now())
        # The name goes into the record before the order: when the machine is released, the settings that the name is
        # made from may have changed.
        name = self._providers.named(machine.provider).resource_name(machine_id)
        return replace(machine, resource_name=name)

    async def backing_off(self) -> Mapping[Source, Failures]:
        """The sources that failed lately and are left alone for now."""
        return self._backing_off(await self._machines.failures())

    async def stopped(self) -> Mapping[Source, Failures]:
        """The sources from which no more is rented, because too many machines in a row were of no use."""
        return {source: failed for source, failed in (await self.backing_off()).items() if failed.is_stopped}

    async def never_paid(self) -> Mapping[str, str]:
        """Why the machine budget pays for no machine of a GPU type, for each type of which that is so."""
        market = await self._offers.market()
        offers = [offer for offer in market.offers if not self._limits.offers.objection(offer)]
        costly = any(reserve_micros(offer.tariff) for offer in offers)
        return never_paid(offers, await self._funding.funds()) if costly else {}

    async def resume(self, gpu_type: str = "") -> Mapping[Source, Failures]:
        """Rent again from stopped sources, of one GPU type or of all; returns those that were stopped."""
        async with self.one_at_a_time:
            found = {s: failed for s, failed in (await self.stopped()).items() if gpu_type in {"", s.gpu_type}}
            await self._machines.resume(found)
        for source in found:
            log.info("machines are rented again", extra={"source": str(source)})
        return found

    def found_well(self, provider: str) -> None:
        """Note that a provider was examined and is well, so that earlier failures there do not delay another try."""
        self._found_well[provider] = self._clock.now()

    async def _pool(self) -> Pool:
        present, failures = await self._machines.unreleased(), await self._machines.failures()
        backing_off = self._backing_off(failures)
        self._tell_stopped({source: failed for source, failed in backing_off.items() if failed.is_stopped})
        trials = trials_left(failures, present, self._limits.unfit_limit)
        return Pool(present, backing_off, await self._paces.paces(), trials)

    def _backing_off(self, failures: Mapping[Source, Failures]) -> Mapping[Source, Failures]:
        now, limit = self._clock.now(), self._limits.unfit_limit
        return sources_backing_off(failures, self._start_time, self._found_well, now, limit)

    def _tell_stopped(self, stopped: Mapping[Source, Failures]) -> None:
        for source in stopped.keys() - self._stopped:
            log.error("no more machines are rented: %s: %s", source, stopped[source].outlook(self._clock.now()))
        self._stopped = frozenset(stopped)
        metrics.sources_stopped.set(len(stopped))

    async def _supply(self, needs: Needs) -> tuple[Market, Funds]:
        """The offers, and the money for them. Nobody is asked if no machine is missing."""
        if not needs.wishes:
            return Market(), Funds()
        market = await self._offers.market()
        costly = any(reserve_micros(offer.tariff) for offer in market.offers)
        return market, await self._funding.funds() if costly else Funds()

    async def _request(self, start: Start) -> bool:
        machine = self.ordered(start)
        try:
            await self._machines.add(machine, machine.reason, most=self._limits.max_machines)
        except PoolLimitError as error:
            log.info("one was adopted, or asked for, in between", extra={"error": str(error)})
            return False
        log.info(
            "a machine is wanted",
            extra={"machine_id": machine.machine_id, "gpu_type": machine.gpu_type, "reason": machine.reason},
        )
        return True

    async def _release(self, plan: Plan, present: Sequence[Machine]) -> None:
        for machine in present:
            if machine.machine_id not in plan.release:
                continue
            reason = "it is replaced by a machine that jobs wait for" if machine.machine_id in plan.give_way else "idle"
            try:
                await self._machines.change(machine, machine.drain(self._clock.now(), reason))
            except StaleMachineError:
                log.info("an idle machine was leased just before its release", extra={"machine_id": machine.machine_id})


def ordered_machine(start: Start, machine_id: str, token: str, limits: Limits, now: datetime) -> Machine:
    """The machine that `start` describes, in its first state."""
    offer = start.offer
    reason = _OWN if start.own_job_id else _REASONS.get(start.origin, "it was asked for")
    return Machine(
        machine_id=machine_id,
        provider=offer.provider,
        gpu_type=offer.gpu_type,
        gpu_count=offer.gpu_count,
        token=token,
        price_micros_per_hour=offer.price_micros_per_hour,
        minimum_billed=offer.minimum_billed,
        billing_increment=offer.billing_increment,
        backend=offer.backend,
        region=offer.region,
        spot=offer.spot,
        max_duration=offer.longest_life,
        max_price_micros_per_hour=limits.offers.max_price_micros_per_gpu_hour * offer.gpu_count,
        origin=start.origin,
        own_job_id=start.own_job_id,
        create_time=now,
        state_time=now,
        reason=f"{reason} ({start.passed_over})" if start.passed_over else reason,
        occupied=(0,) * offer.gpu_count,
    )
