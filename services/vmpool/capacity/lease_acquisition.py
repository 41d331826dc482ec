"""Gives out leases, and puts requests that find no room on the demand board."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from services.vmpool import metrics
from services.vmpool.errors import MachineNotReadyError, NoCapacityError, SlotTakenError
from services.vmpool.machines.lease import Holder
from vocabulary.slots import gpus_for, size_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from servicekit.clock import Clock
    from services.vmpool.capacity.sizer import Sizer
    from services.vmpool.machines.lease import Lease, LeaseRequest, PlacedRequest
    from services.vmpool.machines.machine import Machine
    from services.vmpool.policy.demand_board import DemandBoard
    from services.vmpool.store.lease_store import LeaseStore

RETRY_AFTER = timedelta(seconds=1)
"""Retry delay for callers that do not watch the machines."""


class LeaseAcquisition:
    """Answers AcquireLease with a lease on a ready machine, or with an error that describes the outlook."""

    def __init__(self, leases: LeaseStore, demand: DemandBoard, sizer: Sizer, clock: Clock) -> None:
        self._leases = leases
        self._demand = demand
        self._sizer = sizer
        self._clock = clock

    async def acquire(self, request: LeaseRequest) -> tuple[Lease, Machine]:
        """Take a lease now; raises NoCapacityError with the outlook if there is no room."""
        with metrics.acquire_seconds.time():
            taken = await self._leases.acquire(request)
        if taken is None:
            metrics.leases_refused.inc()
            raise NoCapacityError(await self._outlook(request), RETRY_AFTER)
        self._demand.granted(request)
        metrics.leases_of_a_job_granted([taken[0]])
        return taken

    async def place(self, request: PlacedRequest) -> Sequence[tuple[Lease, Machine]]:
        """Take exactly the slots of the request, all or none; raises what `LeaseStore.place` raises.

        A refusal starts no machine: a caller that places jobs itself reports its demand.
        """
        try:
            with metrics.acquire_seconds.time():
                taken = await self._leases.place(request)
        except (MachineNotReadyError, SlotTakenError):
            metrics.leases_refused.inc()
            raise
        self._demand.granted(request)
        metrics.leases_of_a_job_granted([lease for lease, _ in taken])
        return taken

    async def _outlook(self, request: LeaseRequest) -> str:
        if request.machine_id is not None:
            size = size_text(request.eighths)
            return f"machine {request.machine_id} has less than {size} of type {request.gpu_type} free"
        self._demand.refused(request, self._clock.now())
        starting, plan = await self._sizer.resize()
        if starting:
            return f"{starting} on the way"
        work = (request.gpu_types, gpus_for(request.eighths))
        if request.holder is Holder.JOB:
            return plan.blocked.get(work) or "all are in use"
        reasons = (reason for (*kind, _), reason in plan.blocked_reserved.items() if tuple(kind) == work)
        return next(reasons, "") or "all are in use, or end too soon"
