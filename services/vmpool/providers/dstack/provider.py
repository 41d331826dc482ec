"""Machines that dstack rents. Each is one run of dstack, whose container is our executor."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

from servicekit.logging import get_logger
from services.vmpool.errors import ProviderError
from services.vmpool.machines.offer import Offer
from services.vmpool.policy.offer_choice import SpotPolicy
from services.vmpool.providers.dstack.backends import AMD, ensure_amddevcloud
from services.vmpool.providers.dstack.client import DstackClient
from services.vmpool.providers.dstack.config import DstackConfig
from services.vmpool.providers.dstack.examination import Examination
from services.vmpool.providers.dstack.fleet import Fleets
from services.vmpool.providers.dstack.offer import best_offers, offers_from_plan
from services.vmpool.providers.dstack.reach import Reach
from services.vmpool.providers.dstack.refusal import RefusedError
from services.vmpool.providers.dstack.release import INSTANCE_PREFIX, Release
from services.vmpool.providers.dstack.runs.log import Logs
from services.vmpool.providers.dstack.runs.name import ordered_as, run_name
from services.vmpool.providers.dstack.runs.run import Run
from services.vmpool.providers.dstack.runs.runs import Runs
from services.vmpool.providers.dstack.runs.state import billed, observation
from services.vmpool.providers.dstack.runs.task import plan_request
from services.vmpool.providers.provider import (
    UNNAMED,
    Observation,
    Order,
    ProviderFinding,
    ProviderState,
    Resource,
    Scope,
)

log = get_logger(__name__)


class DstackProvider:
    """Rents machines through dstack's server, and reaches their executors over SSH."""

    name = "dstack"
    keeps_reserved = True

    def __init__(self, config: DstackConfig) -> None:
        market, timeouts = config.market, config.timeouts
        self.ends_with_pool = config.ends_with_pool
        self.start_timeout = timeouts.start_timeout
        self.poll_interval = timeouts.poll_interval
        is_spot = None if market.spot_policy is SpotPolicy.AUTO else market.spot_policy is SpotPolicy.SPOT
        life = config.max_duration, "VMPOOL_DSTACK_MAX_DURATION"
        self.scope = Scope(market.gpu_counts, market.backends, *life, is_spot=is_spot)
        self._config = config
        self._client = DstackClient(config.server)
        self._runs = Runs(self._client, config)
        self._fleets = Fleets(self._client, config)
        self._logs = Logs(self._runs, config)
        self._release = Release(self._runs, self._fleets, config, self._logs.keep)
        self._reach = Reach(config)
        self._examination = Examination(self._client, self._fleets, config, self._ask_for_offers)
        self._examined = False

    async def start(self) -> None:
        """Check version, token, project, backends and fleet. If the server does not answer, they are checked later."""
        try:
            await self._examine()
        except OSError as error:
            log.warning("dstack cannot be checked yet", extra={"error": str(error)})

    async def close(self) -> None:
        """Close connections. Machines stay as they are."""
        await self._reach.close()
        await self._client.close()

    async def diagnose(self) -> Sequence[ProviderFinding]:
        """Check everything that making machines needs."""
        return await self._examination.findings()

    async def offers(self) -> Sequence[Offer]:
        """The offers in dstack's plans for our runs."""
        await self._examine()
        await self._fleets.ensure()
        offers = await self._ask_for_offers(True)
        # A restarted server has dropped the backends that its configuration file does not name.
        self._examined = bool(offers)
        life, setting = self.scope.longest_life, self.scope.life_setting
        return [replace(offer, longest_life=life, life_setting=setting) for offer in offers]

    def resource_name(self, machine_id: str) -> str:
        """The name of its run."""
        return run_name(self._config.pool_name, machine_id)

    async def provision(self, order: Order) -> None:
        """Submit the machine's run, unless there is a run, active or over, with its name and its mark."""
        await self._examine()
        if await self._is_ordered(order):
            return
        await self._fleets.ensure()
        try:
            await self._runs.submit(order, self._reach.public_key)
        except RefusedError:
            # An earlier request that timed out may have succeeded meanwhile.
            if not await self._is_ordered(order):
                raise

    async def observe(self, machine_id: str, resource: Resource = UNNAMED) -> Observation:
        """The machine's state; UNKNOWN if the server does not know its run but the machine may still be there."""
        self._reach.resume(machine_id)
        run = await self._runs.of_machine(machine_id, resource)
        if run is None:
            return await self._look_without_run(machine_id, resource)
        seen = billed(observation(run), self._config.market)
        if seen.exit_status and (words := await self._logs.last_words(run)):
            seen = replace(seen, reason=f"{seen.reason}; its log ends: {words}")
        if seen.state is not ProviderState.RUNNING or run.job is None or run.job.address is None:
            return seen
        return replace(seen, endpoint=self._reach.endpoint(machine_id, run.job.address, run.job.proxy))

    async def release(self, machine_id: str, resource: Resource = UNNAMED) -> None:
        """Stop the run, delete the machine, and wait until it is gone. A machine without its run is ended too."""
        found = await self._release.release(machine_id, resource)
        if not found and (host := await self._forgotten_host(machine_id)):
            raise ProviderError(
                f"dstack's server has forgotten machine {machine_id}, and its host {host} still answers and may cost "
                "money: give the server its data back, or end the machine in the cloud's console"
            )
        await self._reach.drop(machine_id)

    async def list_all(self) -> Sequence[str]:
        """Ids of the runs with our name and token, and of machines of ours whose run was deleted."""
        runs = await self._runs.list_all()
        known = [run for run in runs if not run.deleted]
        ours = [machine_id for run in known if (machine_id := run.machine_id(self._config.pool_name))]
        deleted = [run for run in runs if run.deleted and run.machine_id(self._config.pool_name)]
        return [*ours, *await self._without_run({run.name for run in known}, deleted)]

    async def order_of(self, machine_id: str) -> Order | None:
        """The order in the run's tags; None for a machine whose run was deleted."""
        run = await self._runs.of_machine(machine_id)
        if run is None:
            return None
        return ordered_as(machine_id, run.tags, run.token)

    async def logs(self, machine_id: str, resource: Resource = UNNAMED, *, follow: bool) -> AsyncIterator[bytes]:
        """The executor's output; it is kept here when the machine is released."""
        async for piece in self._logs.read(machine_id, resource, follow=follow):
            yield piece

    async def _examine(self) -> None:
        if not self._examined:
            if await ensure_amddevcloud(self._client, self._config):
                log.info("the dstack project has a new backend", extra={"backend": AMD})
            await self._examination.require()
            self._examined = True

    async def _is_ordered(self, order: Order) -> bool:
        """True if the machine's run is there; raises ProviderError if somebody else's run has its name."""
        run = await self._runs.get(self._runs.name_of(order.machine_id, Resource(order.name)))
        if run is not None and not (run.is_machine(order.machine_id) and run.token == order.token):
            raise ProviderError(f"dstack has a run {run.name!r} that is not ours: delete it, or rename the pool")
        return run is not None

    async def _look_without_run(self, machine_id: str, resource: Resource) -> Observation:
        """Look for a machine whose run is gone, because it was deleted by hand or lost by the server."""
        unknown = "dstack's server knows no such run"
        if left := await self._release.left_without_run(machine_id, resource):
            names = ", ".join(f"{each.fleet}-{each.number}" for each in left)
            return Observation(ProviderState.UNKNOWN, reason=f"{unknown}, and lists its instance {names} all the same")
        if host := await self._forgotten_host(machine_id):
            return Observation(ProviderState.UNKNOWN, reason=f"{unknown}, and its host {host} answers all the same")
        return Observation(ProviderState.GONE, reason=unknown)

    async def _forgotten_host(self, machine_id: str) -> str:
        """The host of a machine that the server has lost but that still answers; else empty."""
        host = self._reach.answering_host(machine_id)
        if not host or any(instance.hostname == host for instance in await self._fleets.instances()):
            return ""
        return host

    async def _ask_for_offers(self, in_fleet: bool) -> Sequence[Offer]:  # noqa: FBT001 - Examination calls it so
        market = self._config.market
        plans = [
            await self._client.ask_project("runs/get_plan", plan_request(self._config, count, in_fleet=in_fleet))
            for count in market.gpu_counts
        ]
        return best_offers((offer for plan in plans for offer in offers_from_plan(plan, market)), market)

    async def _without_run(self, known: set[str], deleted: Sequence[Run]) -> Sequence[str]:
        """Idle machines in any fleet whose only runs were deleted and had our mark."""
        left: list[str] = []
        for instance in await self._fleets.instances() if deleted else ():
            if not instance.is_idle or instance.is_ssh_host:
                continue
            names = await self._runs.run_names_on(instance.instance_id)
            # Somebody else's run may have had the name of one of ours, so the name alone proves nothing.
            named = [] if names & known else [run for run in deleted if run.name in names]
            if any([instance.instance_id in await self._runs.instance_ids(run.run_id) for run in named]):
                left.append(f"{INSTANCE_PREFIX}{instance.instance_id}")
        return left
