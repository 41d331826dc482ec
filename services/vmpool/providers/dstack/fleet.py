"""dstack's fleet that holds a pool's machines. Without one, every run ends for lack of capacity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from dstack._internal.core.compatibility.fleets import get_apply_plan_excludes
from dstack._internal.core.models.fleets import ApplyFleetPlanInput, FleetConfiguration, FleetSpec
from dstack._internal.core.models.profiles import Profile
from dstack._internal.server.schemas.fleets import (
    ApplyFleetPlanRequest,
    DeleteFleetInstancesRequest,
    GetFleetRequest,
    ListProjectFleetsRequest,
)

from services.vmpool.errors import ProviderError
from services.vmpool.fault import Fault
from services.vmpool.providers.dstack.client import DstackClient
from services.vmpool.providers.dstack.config import DstackConfig
from services.vmpool.providers.dstack.refusal import RefusedError
from services.vmpool.providers.dstack.runs.name import POOL_TAG
from services.vmpool.providers.dstack.runs.task import gpu_spec, resources
from vocabulary.money import dollars_of

Json = Mapping[str, Any]

_SSH_BACKEND = "remote"
_GONE_STATUSES = frozenset({"terminated"})


@dataclass(frozen=True)
class Instance:
    """A machine in a fleet, with or without a run. `status` is dstack's word."""

    instance_id: str
    number: int
    fleet: str
    status: str
    backend: str = ""
    hostname: str = ""
    unreachable: bool = False

    @property
    def is_idle(self) -> bool:
        """True if no run has it. It costs money all the same."""
        return self.status == "idle"

    @property
    def is_ssh_host(self) -> bool:
        """True if it is a host of an SSH fleet: it is somebody's own, and never deleted."""
        return self.backend == _SSH_BACKEND


class Fleets:
    """The project's fleets, ours among them."""

    def __init__(self, client: DstackClient, config: DstackConfig) -> None:
        self._client = client
        self._config = config

    async def ours(self) -> Json | None:
        """Our fleet's JSON; None if it is missing."""
        body = GetFleetRequest(name=self._config.fleet.name).model_dump_json()
        try:
            return cast("Json", await self._client.ask_project("fleets/get", body))
        except RefusedError as error:
            if error.is_not_found:
                return None
            raise

    async def ensure(self) -> None:
        """Make our fleet if it is missing; raises ProviderError if the settings forbid it."""
        if await self.ours() is not None:
            return
        if not self._config.fleet.create:
            raise ProviderError(missing_fleet(self._config), Fault.MISCONFIGURED)
        try:
            await self._client.ask_project("fleets/apply", create_request(self._config))
        except RefusedError:
            # Another vmpool of the same pool may have made it meanwhile.
            if await self.ours() is None:
                raise

    async def instances(self) -> Sequence[Instance]:
        """All instances in any fleet of the project, except those that are gone."""
        answer = await self._client.ask_project("fleets/list", ListProjectFleetsRequest().model_dump_json())
        return [
            instance
            for fleet in cast("list[Json]", answer)
            for each in cast("list[Json]", fleet.get("instances") or [])
            if (instance := instance_from_json(each, str(fleet["name"]))).status not in _GONE_STATUSES
        ]

    async def delete_instance(self, instance: Instance) -> None:
        """Have the server end a machine; raises RefusedError, with `is_busy` if the server cannot do so now."""
        body = DeleteFleetInstancesRequest(name=instance.fleet, instance_nums=[instance.number])
        await self._client.ask_project("fleets/delete_instances", body.model_dump_json())


def instance_from_json(answer: Json, fleet: str) -> Instance:
    """The instance that an element of a fleet's `instances` describes."""
    return Instance(
        instance_id=str(answer.get("id", "")),
        number=int(answer.get("instance_num") or 0),
        fleet=fleet,
        status=str(answer.get("status", "")),
        backend=str(answer.get("backend") or ""),
        hostname=str(answer.get("hostname") or ""),
        unreachable=bool(answer.get("unreachable")),
    )


def fleet_configuration(config: DstackConfig) -> FleetConfiguration:
    """A fleet of up to `size` machines, each of which is kept while it has a run, and a little longer."""
    market = config.market
    counts = f"{min(market.gpu_counts)}..{max(market.gpu_counts)}"
    return FleetConfiguration.model_validate(
        {
            "name": config.fleet.name,
            "nodes": f"0..{config.fleet.size}",
            "backends": list(market.backends),
            "regions": list(market.regions) or None,
            "resources": resources(market, gpu_spec(market.gpu_types, counts)),
            "spot_policy": market.spot_policy.value,
            "max_price": dollars_of(market.max_price_micros_per_hour(max(market.gpu_counts))) or None,
            "idle_duration": int(config.fleet.idle_duration.total_seconds()),
            "tags": {POOL_TAG: config.pool_name},
        }
    )


def create_request(config: DstackConfig) -> str:
    """The body of `fleets/apply` that makes the fleet; the server refuses if the name is taken."""
    spec = FleetSpec(configuration=fleet_configuration(config), profile=Profile(name="wavepool"))
    plan = ApplyFleetPlanInput(spec=spec, current_resource=None)
    body = ApplyFleetPlanRequest(plan=plan, force=False)
    return body.model_dump_json(exclude=get_apply_plan_excludes(plan))


def missing_fleet(config: DstackConfig) -> str:
    """The message for the operator if our fleet is missing and may not be made."""
    return (
        f"dstack's project {config.server.project!r} has no fleet {config.fleet.name!r}: make one with "
        f"`nodes: 0..{config.fleet.size}`, or set VMPOOL_DSTACK_CREATE_FLEET=true"
    )
