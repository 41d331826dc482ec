"""Converts leases, demand and figures to and from vmpool's proto messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavepool.vmpool.v1 import vmpool_pb2 as pb

from servicekit.rpc.proto_time import instant_to_proto
from services.vmpool.errors import InvalidFieldError
from services.vmpool.machines import slot
from services.vmpool.machines.lease import LeaseRequest, StartKind, check_duration, check_job
from services.vmpool.machines.machine import OVER, Machine, MachineState
from services.vmpool.machines.order_checks import check_fallback_gpu_types, check_gpu_type
from services.vmpool.policy.packing import Demand
from services.vmpool.policy.sizing import check_demand

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime, timedelta

    from services.vmpool.config import VmPoolSettings
    from services.vmpool.machines.lease import Lease
    from services.vmpool.machines.pool_totals import PoolTotals
    from services.vmpool.policy.sizing import Plan

MAX_DEMANDS = 1000
"""Far more than there are kinds of work; a larger report is a bug of the caller."""

_START_KINDS = {kind: pb.StartKind.Value(f"START_KIND_{kind.name}") for kind in StartKind}


def lease_to_proto(lease: Lease, machine: Machine) -> pb.Lease:
    """A lease with everything that its holder needs to reach the executor."""
    return pb.Lease(
        lease_id=lease.lease_id,
        machine_id=lease.machine_id,
        job_id=lease.job_id,
        attempt=lease.attempt,
        expire_time=instant_to_proto(lease.expire_time),
        executor_endpoint=machine.endpoint,
        executor_token=machine.token,
        fencing_token=lease.fencing_token,
        eighths=lease.slot.eighths,
        gpu=lease.slot.gpu,
        first_eighth=lease.slot.first,
        start_kind=_START_KINDS[lease.start_kind],
    )


def lease_request_from_proto(request: pb.AcquireLeaseRequest, settings: VmPoolSettings) -> LeaseRequest:
    """A job's request for a lease; raises InvalidFieldError."""
    check_job(request.job_id, request.attempt)
    gpu_type = check_gpu_type(request.gpu_type, settings.gpu_types)
    return LeaseRequest(
        job_id=request.job_id,
        attempt=request.attempt,
        gpu_type=gpu_type,
        eighths=slot.check_eighths(request.eighths),
        machine_id=request.machine_id or None,
        duration=lease_duration_from_proto(request, settings),
        fallback_gpu_types=check_fallback_gpu_types(request.fallback_gpu_types, gpu_type, settings.gpu_types),
    )


def lease_duration_from_proto(
    request: pb.AcquireLeaseRequest | pb.RenewLeaseRequest, settings: VmPoolSettings
) -> timedelta:
    """The duration of a lease; the usual one if the request has none."""
    if not request.HasField("duration"):
        return settings.lease_duration
    try:
        duration = request.duration.ToTimedelta()
    except OverflowError as error:
        raise InvalidFieldError("duration", f"is out of range: {error}") from error
    return check_duration(duration, settings.longest_lease)


def demands_from_proto(request: pb.ReportDemandRequest, gpu_types: Sequence[str]) -> Sequence[Demand]:
    """All waiting work; raises InvalidFieldError."""
    if len(request.demands) > MAX_DEMANDS:
        raise InvalidFieldError("demands", f"must be at most {MAX_DEMANDS}; sum up jobs of one kind")
    return [
        check_demand(Demand(d.gpu_type, d.eighths, d.jobs, tuple(d.fallback_gpu_types)), gpu_types)
        for d in request.demands
    ]


def plan_to_proto(starting_machines: int, plan: Plan) -> pb.ReportDemandResponse:
    """The pool's answer to the reported demand."""
    return pb.ReportDemandResponse(
        starting_machines=starting_machines,
        blocked_reason=plan.blocked_reason,
        blocked_demands=[
            pb.BlockedDemand(gpu_types=gpu_types, reason=reason) for gpu_types, reason in plan.blocked.items()
        ],
    )


def pool_metrics_to_proto(
    machines: Sequence[Machine], leases: Mapping[StartKind, int], forgotten: PoolTotals, now: datetime
) -> pb.GetPoolMetricsResponse:
    """The pool's figures, over remembered and forgotten machines and leases."""
    idle = sum((machine.idle_until(now) for machine in machines), forgotten.idle)
    return pb.GetPoolMetricsResponse(
        total_machines=forgotten.machines + len(machines),
        active_machines=sum(machine.state not in OVER for machine in machines),
        busy_machines=sum(machine.state is MachineState.BUSY for machine in machines),
        cold_starts=forgotten.cold_starts + leases[StartKind.COLD_START],
        warm_reuses=forgotten.warm_reuses + leases[StartKind.WARM_REUSE],
        idle_seconds=idle.total_seconds(),
        cost_micros=forgotten.cost_micros + sum(machine.cost_until(now) for machine in machines),
    )
