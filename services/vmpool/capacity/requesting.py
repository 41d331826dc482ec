"""Gives a machine to somebody who asks for one without a waiting job."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from servicekit.clock import Clock
from servicekit.logging import get_logger
from services.vmpool.capacity.funding import Funding
from services.vmpool.capacity.machine_request import MachineRequest, check_against, check_request
from services.vmpool.capacity.offer_board import OfferBoard
from services.vmpool.capacity.scope_checks import check_scope_gpu_count, check_scope_spot
from services.vmpool.capacity.sizer import Sizer
from services.vmpool.config import VmPoolSettings
from services.vmpool.errors import NoOfferError, PoolLimitError, RequestConflictError, StaleMachineError
from services.vmpool.machines.machine import ON_THE_WAY, Machine, MachineState, Origin
from services.vmpool.machines.offer import Offer
from services.vmpool.policy.machine_budget import reserve_micros
from services.vmpool.policy.offer_choice import Terms, choose_offer
from services.vmpool.policy.sizing import Start
from services.vmpool.providers.provider_set import ProviderSet
from services.vmpool.store.machine_store import MachineStore

log = get_logger(__name__)

_STANDING = ON_THE_WAY | {MachineState.WARM}


class Requesting:
    """Answers RequestMachine, one request at a time and never while the sizer decides."""

    def __init__(
        self,
        sizer: Sizer,
        machines: MachineStore,
        offers: OfferBoard,
        funding: Funding,
        providers: ProviderSet,
        settings: VmPoolSettings,
        clock: Clock,
    ) -> None:
        self._sizer = sizer
        self._machines = machines
        self._offers = offers
        self._funding = funding
        self._limits = settings.limits()
        self._gpu_types = settings.gpu_types
        self._default_gpu_type = settings.default_gpu_type()
        self._providers = providers
        self._clock = clock

    async def request(self, asked: MachineRequest) -> tuple[Machine, bool]:
        """Return a machine, and True if it was started for this request.

        Raises InvalidFieldError, RequestConflictError, PoolLimitError or NoOfferError.
        """
        asked = replace(asked, gpu_type=asked.gpu_type or self._default_gpu_type)
        asked = check_request(asked, self._gpu_types, self._providers.names)
        check_scope_gpu_count(asked.gpu_count, self._providers, asked.provider)
        check_scope_spot(asked.spot, self._providers, asked.provider)
        async with self._sizer.one_at_a_time:
            earlier = await self._machines.of_request(asked.request_id) if asked.request_id else None
            if earlier is not None:
                if not asked.is_met_by(earlier):
                    raise RequestConflictError(asked.request_id, earlier.machine_id)
                return earlier, True
            standing = None if asked.force_new else await self._standing(asked)
            if standing is not None:
                return standing, False
            return await self._started(asked), True

    async def _standing(self, asked: MachineRequest) -> Machine | None:
        """An idle machine that fits, with its idle time restarted, or else one on its way; None if there is neither."""
        fitting = [m for m in await self._machines.unreleased() if m.state in _STANDING and asked.is_met_by(m)]
        by_use = sorted(fitting, key=lambda m: m.last_used_time or m.create_time, reverse=True)
        for machine in by_use:
            if machine.state is MachineState.WARM:
                with suppress(StaleMachineError):
                    return await self._machines.change(machine, machine.keep(self._clock.now()))
        return next((machine for machine in by_use if machine.state in ON_THE_WAY), None)

    async def _started(self, asked: MachineRequest) -> Machine:
        offer, passed_over = await self._offer(asked)
        present = await self._machines.unreleased()
        if len(present) >= self._limits.max_machines:
            raise PoolLimitError(_limit_reached(present, self._limits.max_machines))
        machine = self._sizer.ordered(Start(offer, Origin.REQUEST, passed_over))
        machine = replace(
            machine,
            request_id=asked.request_id,
            max_duration=asked.max_duration or machine.max_duration,
            max_price_micros_per_hour=asked.max_price_micros_per_hour or machine.max_price_micros_per_hour,
            reason=f"{machine.reason}: {asked.reason}" if asked.reason else machine.reason,
        )
        await self._machines.add(machine, machine.reason, most=self._limits.max_machines)
        log.info("a machine was requested", extra={"machine_id": machine.machine_id, "reason": machine.reason})
        return machine

    async def _offer(self, asked: MachineRequest) -> tuple[Offer, str]:
        market, now = await self._offers.market(), self._clock.now()
        usual = self._limits.offers
        asked = check_against(market, asked, usual)
        market = asked.market(market)
        # Somebody who asks by hand may just have corrected the settings.
        backing_off = {
            source: failed for source, failed in (await self._sizer.backing_off()).items() if not failed.wants_operator
        }
        terms = Terms(asked.policy(usual), backing_off)
        free = choose_offer((asked.gpu_type,), market, terms, now)
        if free.offer is None:
            raise NoOfferError(free.outlook)
        if not reserve_micros(free.offer.tariff):
            return free.offer, free.outlook
        paid = choose_offer((asked.gpu_type,), market, replace(terms, funds=await self._funding.funds()), now)
        if paid.offer is None:
            raise PoolLimitError(paid.outlook)
        return paid.offer, paid.outlook


def _limit_reached(present: Sequence[Machine], max_machines: int) -> str:
    names = ", ".join(f"{machine.machine_id} ({machine.state.value})" for machine in present)
    return (
        f"the limit of {max_machines} machines is reached by {names or 'none'}: "
        "stop one of them, or raise VMPOOL_MAX_MACHINES"
    )
