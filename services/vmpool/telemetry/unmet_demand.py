"""Which waiting jobs the pool can start nothing for. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from services.vmpool.machines.machine import ON_THE_WAY, Machine
from services.vmpool.machines.offer import Source
from services.vmpool.machines.pool_readings import UnmetDemand
from services.vmpool.policy.failures import Failures
from services.vmpool.policy.packing import Demand


def unmet_demand(
    demands: Iterable[Demand],
    present: Sequence[Machine],
    max_machines: int,
    backing_off: Mapping[Source, Failures],
    now: datetime,
) -> list[UnmetDemand]:
    """The reported demand, each with the reason why nothing is started for it.

    There is no reason if a machine is on its way, or if the pool has room and none of the sources failed: the sizer
    then starts a machine, or knows that the jobs are served sooner without one.
    """
    starting = {machine.gpu_type for machine in present if machine.state in ON_THE_WAY}

    def reason(demand: Demand) -> str:
        if starting.intersection(demand.gpu_types):
            return ""
        if len(present) >= max_machines:
            return f"the limit of {max_machines} machines is reached"
        failed = [source for source in backing_off if source.gpu_type in demand.gpu_types]
        return f"{failed[0]}: {backing_off[failed[0]].outlook(now)}" if failed else ""

    return [UnmetDemand(demand.gpu_type, demand.jobs, reason(demand)) for demand in demands]
