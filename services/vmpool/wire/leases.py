"""Converts leases, demand and figures to and from vmpool's proto messages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from wavepool.executor.v1 import inventory_pb2
from wavepool.vmpool.v1 import vmpool_pb2 as pb

from servicekit.rpc.proto_of import proto_of
from servicekit.rpc.proto_time import duration_to_proto
from services.vmpool.config import VmPoolSettings
from services.vmpool.errors import InvalidFieldError
from services.vmpool.machines.estimate import Start, start_estimate
from services.vmpool.machines.lease import (
    Holder,
    Lease,
    LeaseRequest,
    PlacedRequest,
    Placement,
    StartKind,
    check_duration,
    check_idle_time,
    check_job,
    check_placements,
    check_whole_gpus,
)
from services.vmpool.machines.machine import OVER, Machine, MachineState
from services.vmpool.machines.offer import START_MARGIN
from services.vmpool.machines.order_checks import check_fallback_gpu_types, check_gpu_type
from services.vmpool.machines.pool_totals import PoolTotals
from services.vmpool.machines.slot import check_size
from services.vmpool.policy.packing import Demand
from services.vmpool.policy.sizing import Plan, check_demand
from services.vmpool.providers.provider import Scope
from services.vmpool.wire.machines import machine_to_proto
from vocabulary.slots import Slot

MAX_DEMANDS = 1000
"""Far more than there are kinds of work; a larger report is a bug of the caller."""

_HOLDERS: Mapping[int, Holder] = {
    pb.LEASE_HOLDER_UNSPECIFIED: Holder.JOB,
    pb.LEASE_HOLDER_JOB: Holder.JOB,
    pb.LEASE_HOLDER_RESERVATION: Holder.RESERVATION,
}
_HOLDER_NUMBERS = {holder: pb.LeaseHolder.Value(f"LEASE_HOLDER_{holder.name}") for holder in Holder}


def lease_to_proto(lease: Lease, machine: Machine) -> pb.Lease:
    """A lease with everything that its holder needs to reach the executor."""
    return proto_of(
        pb.Lease,
        lease,
        executor_endpoint=machine.endpoint,
        executor_token=machine.token,
        slots=[proto_of(inventory_pb2.Slot, part, first_eighth=part.first) for part in lease.slots],
        machine_address=machine.inventory.address,
    )


def grants_to_proto(grants: Iterable[tuple[Lease, Machine]], now: datetime) -> pb.AcquireLeaseResponse:
    """Leases with the machines that they are on."""
    return pb.AcquireLeaseResponse(
        grants=[
            pb.Grant(lease=lease_to_proto(lease, machine), machine=machine_to_proto(machine, now))
            for lease, machine in grants
        ]
    )


def lease_request_from_proto(request: pb.AcquireLeaseRequest, settings: VmPoolSettings) -> LeaseRequest | PlacedRequest:
    """A request of a job or a reservation for leases; raises InvalidFieldError."""
    check_job(request.job_id, request.attempt)
    holder = _holder_from_proto(request)
    gpu_type = check_gpu_type(request.gpu_type, settings.gpu_types)
    common: dict[str, Any] = {
        "job_id": request.job_id,
        "attempt": request.attempt,
        "gpu_type": gpu_type,
        "duration": lease_duration_from_proto(request, holder, settings),
        "fallback_gpu_types": check_fallback_gpu_types(request.fallback_gpu_types, gpu_type, settings.gpu_types),
        "idle_time": _idle_time_from_proto(request),
        "holder": holder,
        "longest_time": _longest_time_from_proto(request, holder, settings),
    }
    wanted: LeaseRequest | PlacedRequest
    if request.placements:
        wanted = PlacedRequest(placements=_placements_from_proto(request), **common)
    else:
        size = check_size(request.eighths, request.gpus or 1)
        wanted = LeaseRequest(eighths=size, machine_id=request.machine_id or None, **common)
    check_whole_gpus(wanted)
    return wanted


def _holder_from_proto(request: pb.AcquireLeaseRequest) -> Holder:
    holder = _HOLDERS.get(request.holder)
    if holder is None:
        known = ", ".join(pb.LeaseHolder.Name(number) for number in _HOLDER_NUMBERS.values())
        raise InvalidFieldError("holder", f"must be one of {known}; it is number {request.holder}")
    return holder


def _longest_time_from_proto(request: pb.AcquireLeaseRequest, holder: Holder, settings: VmPoolSettings) -> timedelta:
    if not request.HasField("longest_time"):
        return timedelta(0)
    longest_time = _duration_from_proto(request, "longest_time")
    return check_duration(longest_time, *settings.longest_of(holder), field="longest_time")


def _idle_time_from_proto(request: pb.AcquireLeaseRequest) -> timedelta | None:
    if not request.HasField("idle_time"):
        return None
    return check_idle_time(_duration_from_proto(request, "idle_time"))


def _placements_from_proto(request: pb.AcquireLeaseRequest) -> tuple[Placement, ...]:
    if request.machine_id or request.gpus or request.eighths:
        raise InvalidFieldError("placements", "say which slots to take: leave out machine_id, gpus and eighths")
    placements = [
        Placement(
            placement.machine_id,
            tuple(Slot(part.gpu, part.first_eighth, part.eighths) for part in placement.slots),
        )
        for placement in request.placements
    ]
    return check_placements(placements)


def lease_duration_from_proto(
    request: pb.AcquireLeaseRequest | pb.RenewLeaseRequest, holder: Holder, settings: VmPoolSettings
) -> timedelta:
    """The duration of a lease; the usual one if the request has none. Raises InvalidFieldError."""
    if not request.HasField("duration"):
        return settings.lease_duration
    return check_duration(_duration_from_proto(request, "duration"), *settings.longest_of(holder))


def _duration_from_proto(message: Any, name: str, field: str = "") -> timedelta:  # noqa: ANN401 - any message with it
    """The duration in a field of a message; raises InvalidFieldError."""
    try:
        return getattr(message, name).ToTimedelta()
    except OverflowError as error:
        raise InvalidFieldError(field or name, f"is out of range: {error}") from error


def tunnel_target_from_proto(request: pb.OpenTunnelRequest) -> tuple[str, str]:
    """The ids of the lease and the session that a tunnel's first message names; raises InvalidFieldError."""
    for field, value in (("open.lease_id", request.open.lease_id), ("open.session_id", request.open.session_id)):
        if not value:
            raise InvalidFieldError(field, "must be named in the first message")
    if request.data:
        raise InvalidFieldError("data", "must be empty in the first message, which names lease and session")
    return request.open.lease_id, request.open.session_id


async def tunnel_bytes_from_proto(requests: AsyncIterator[pb.OpenTunnelRequest]) -> AsyncIterator[bytes]:
    """The bytes of a tunnel's later messages; raises InvalidFieldError if one of them names a lease or session."""
    async for request in requests:
        if request.HasField("open"):
            raise InvalidFieldError("open", "is only for the first message; make another call for another connection")
        yield request.data


def demands_from_proto(request: pb.ReportDemandRequest, gpu_types: Sequence[str]) -> Sequence[Demand]:
    """All waiting work; raises InvalidFieldError."""
    if len(request.demands) > MAX_DEMANDS:
        raise InvalidFieldError("demands", f"must be at most {MAX_DEMANDS}; sum up jobs of one kind")
    return [check_demand(_demand_from_proto(demand), gpu_types) for demand in request.demands]


def _demand_from_proto(demand: pb.Demand) -> Demand:
    size = check_size(demand.eighths, demand.gpus or 1, "demands.")
    return Demand(
        demand.gpu_type,
        size,
        demand.jobs,
        tuple(demand.fallback_gpu_types),
        demand.own_job_id,
        _duration_from_proto(demand, "longest_time", "demands.longest_time"),
    )


def plan_to_proto(starting_machines: int, plan: Plan) -> pb.ReportDemandResponse:
    """The pool's answer to the reported demand."""
    return pb.ReportDemandResponse(
        starting_machines=starting_machines,
        blocked_reason=plan.blocked_reason,
        blocked_demands=[
            pb.BlockedDemand(gpu_types=gpu_types, gpus=gpus, reason=reason)
            for (gpu_types, gpus), reason in plan.blocked.items()
        ]
        + [
            pb.BlockedDemand(gpu_types=demand.gpu_types, gpus=demand.gpus, own_job_id=demand.own_job_id, reason=reason)
            for demand, reason in plan.blocked_own.items()
        ]
        + [
            pb.BlockedDemand(gpu_types=gpu_types, gpus=gpus, longest_time=duration_to_proto(length), reason=reason)
            for (gpu_types, gpus, length), reason in plan.blocked_reserved.items()
        ],
    )


def _start_time_to_proto(gpu_type: str, newest: Sequence[Machine]) -> pb.StartTime:
    """How long machines of a type took to start, at any place; the `newest` come first."""
    starts = [
        Start(one.backend, one.ready_time - one.create_time)
        for one in newest
        if one.gpu_type == gpu_type and one.ready_time
    ]
    found = start_estimate(starts, "")
    p50, p90 = (found.p50, found.p90) if found else (None, None)
    return proto_of(pb.StartTime, gpu_type=gpu_type, p50=p50, p90=p90)


def pool_metrics_to_proto(
    machines: Sequence[Machine],
    leases: Mapping[StartKind, int],
    forgotten: PoolTotals,
    now: datetime,
    settings: VmPoolSettings,
    longest_lived: Scope | None,
    gpu_types: Sequence[str],
) -> pb.GetPoolMetricsResponse:
    """The pool's figures, over remembered and forgotten machines and leases, and its limits.

    `longest_lived` is the provider whose machines live longest, None if there is no limit. `gpu_types` may be started.
    """
    idle = sum((machine.idle_until(now) for machine in machines), forgotten.idle)
    newest = sorted(machines, key=lambda machine: machine.create_time, reverse=True)
    answer = pb.GetPoolMetricsResponse(
        total_machines=forgotten.machines + len(machines),
        active_machines=sum(machine.state not in OVER for machine in machines),
        busy_machines=sum(machine.state is MachineState.BUSY for machine in machines),
        cold_starts=forgotten.cold_starts + leases[StartKind.COLD_START],
        warm_reuses=forgotten.warm_reuses + leases[StartKind.WARM_REUSE],
        idle_seconds=idle.total_seconds(),
        cost_micros=forgotten.cost_micros + sum(machine.cost_until(now) for machine in machines),
        max_machines=settings.most_machines(),
        gpus_per_machine=settings.gpus_per_machine,
        machine_network=str(settings.machine_network or ""),
        start_times=[_start_time_to_proto(gpu_type, newest) for gpu_type in gpu_types],
    )
    if longest_lived:
        answer.longest_time.FromTimedelta(max(timedelta(0), longest_lived.longest_life - START_MARGIN))
        answer.life_setting = longest_lived.life_setting
    return answer
