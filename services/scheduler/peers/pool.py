"""Client of vmpool: leases, demand and the states of machines."""

from __future__ import annotations

from collections.abc import AsyncIterator, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import NamedTuple

import grpc
from google.protobuf.duration_pb2 import Duration
from wavepool.executor.v1 import inventory_pb2
from wavepool.vmpool.v1 import vmpool_pb2, vmpool_pb2_grpc

from servicekit.rpc.errors import rpc_failure
from servicekit.rpc.proto_time import duration_to_proto
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.spec import Lease, Placement, WorkKind
from services.scheduler.peers.rpc_codes import ServiceCalls
from vocabulary.slots import Slot

CALL_SECONDS = 5.0
_calls = ServiceCalls()


class PoolError(Exception):
    """vmpool failed to carry out a request; the message is vmpool's."""


class PoolBusyError(PoolError):
    """Nothing is free now."""


class JobHasLeaseError(PoolError):
    """The job has a lease with other content until that lease expires."""


class PoolRefusalError(PoolError):
    """vmpool will never do it."""


class LeaseGoneError(PoolError):
    """The lease has expired or was released."""


class PoolUnreachableError(PoolError):
    """vmpool does not answer."""


_ACQUIRE_ERRORS: dict[grpc.StatusCode, type[PoolError]] = {
    grpc.StatusCode.RESOURCE_EXHAUSTED: PoolBusyError,
    grpc.StatusCode.FAILED_PRECONDITION: PoolBusyError,
    # The machine has gone since it was reported.
    grpc.StatusCode.NOT_FOUND: PoolBusyError,
    grpc.StatusCode.ALREADY_EXISTS: JobHasLeaseError,
}
_LEASE_ERRORS: dict[grpc.StatusCode, type[PoolError]] = {
    grpc.StatusCode.NOT_FOUND: LeaseGoneError,
    grpc.StatusCode.FAILED_PRECONDITION: LeaseGoneError,
}


Blocked = tuple[tuple[str, ...], int, str, int]
"""What vmpool gives a reason for: GPU types, the number of GPUs of one machine, the job that wants its own, and the
seconds for which a reservation has its machine."""


@dataclass(frozen=True)
class Placed:
    """A job's lease with the state of its machine. `gang_id` is common to the leases of a gang, and empty without.

    `address` is where the other machines reach its machine; empty if they do not.
    """

    lease: Lease
    machine: vmpool_pb2.Machine
    start_kind: vmpool_pb2.StartKind.ValueType
    gang_id: str = ""
    address: str = ""


class PoolLimits(NamedTuple):
    """The machines that the pool may have at a time, and the most GPUs of one that it starts.

    A reservation can need one that it starts for `longest_time` at most, which `life_setting` sets; None: no limit.
    `network` is that in which they reach one another; empty if they do not. One that needs no more has `usual_gpus`.
    `never_paid` says of GPU types why the machine budget pays for none of their machines.
    `starts` has the GPU types that it may start, with p50 and p90 of a start in seconds, or None if that is not known.
    """

    machines: int = 0
    gpus: int = 1
    longest_time: timedelta | None = None
    life_setting: str = ""
    network: str = ""
    never_paid: Mapping[str, str] = MappingProxyType({})
    usual_gpus: int = 1
    starts: Mapping[str, tuple[float, float] | None] = MappingProxyType({})


class Pool:
    """Client of the vmpool service."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._stub = vmpool_pb2_grpc.VmPoolServiceStub(channel)

    async def acquire(self, job: Job, lease_duration: timedelta) -> Placed:
        """Leases what the job takes, of any machine, for its present attempt. Repeated calls give the same lease.

        Raises PoolBusyError, JobHasLeaseError, PoolRefusalError, PoolUnreachableError.
        """
        request = _lease_request(job, lease_duration)
        request.eighths, request.gpus = job.spec.resources.eighths_of_each, job.spec.resources.gpus
        (placed,) = await self._acquire(request)
        return placed

    async def place(self, job: Job, placements: Sequence[Placement], lease_duration: timedelta) -> Sequence[Placed]:
        """Leases exactly these slots for the job's present attempt, all or none, in their order.

        Several placements are a gang: its leases are renewed together, and once one is over, so are the others.
        Repeated calls give the same leases. Raises PoolBusyError, JobHasLeaseError, PoolRefusalError,
        PoolUnreachableError.
        """
        request = _lease_request(job, lease_duration)
        for placement in placements:
            slots = [
                inventory_pb2.Slot(gpu=slot.gpu, first_eighth=slot.first, eighths=slot.eighths)
                for slot in placement.slots
            ]
            request.placements.add(machine_id=placement.machine_id, slots=slots)
        return await self._acquire(request)

    async def _acquire(self, request: vmpool_pb2.AcquireLeaseRequest) -> Sequence[Placed]:
        with _translated(_ACQUIRE_ERRORS):
            answer = await self._stub.AcquireLease(request, timeout=CALL_SECONDS)
        return [_placed_from_proto(grant) for grant in answer.grants]

    async def renew(self, lease_id: str, lease_duration: timedelta) -> datetime:
        """Renews a lease; gives its new expiry. Raises LeaseGoneError, PoolRefusalError, PoolUnreachableError."""
        request = vmpool_pb2.RenewLeaseRequest(lease_id=lease_id, duration=duration_to_proto(lease_duration))
        with _translated(_LEASE_ERRORS):
            answer = await self._stub.RenewLease(request, timeout=CALL_SECONDS)
        return answer.expire_time.ToDatetime(UTC)

    async def release(
        self, lease_id: str, *, machine_suspect: bool = False, reason: str = "", unfit_reason: str = ""
    ) -> None:
        """Gives slots back; raises LeaseGoneError (gone already), PoolRefusalError, PoolUnreachableError."""
        request = vmpool_pb2.ReleaseLeaseRequest(
            lease_id=lease_id, machine_suspect=machine_suspect, reason=reason, unfit_reason=unfit_reason
        )
        with _translated(_LEASE_ERRORS):
            await self._stub.ReleaseLease(request, timeout=CALL_SECONDS)

    async def report_demand(self, jobs_by_kind: Mapping[WorkKind, int]) -> dict[Blocked, str]:
        """Reports all waiting jobs by their kind.

        Gives the reason for each blocked kind, with the next step that vmpool tries.
        """
        demands = [
            vmpool_pb2.Demand(
                gpu_type=kind.gpu_types[0],
                fallback_gpu_types=kind.gpu_types[1:],
                gpus=kind.gpus,
                eighths=kind.eighths,
                jobs=jobs,
                own_job_id=kind.own_job_id,
                longest_time=Duration(seconds=kind.longest_seconds) if kind.longest_seconds else None,
            )
            for kind, jobs in sorted(jobs_by_kind.items())
        ]
        with _translated({}):
            answer = await self._stub.ReportDemand(
                vmpool_pb2.ReportDemandRequest(demands=demands), timeout=CALL_SECONDS
            )
        return {
            (tuple(one.gpu_types), one.gpus, one.own_job_id, one.longest_time.seconds): one.reason
            for one in answer.blocked_demands
        }

    async def limits(self) -> PoolLimits:
        """How many machines there may be at a time, and what they are at most; raises PoolUnreachableError."""
        with _translated({}):
            request = vmpool_pb2.GetPoolMetricsRequest(with_funds=True)
            answer = await self._stub.GetPoolMetrics(request, timeout=CALL_SECONDS)
        longest_time = answer.longest_time.ToTimedelta() if answer.HasField("longest_time") else None
        gpus = max(answer.gpus_per_machine, default=1)
        return PoolLimits(
            answer.max_machines,
            gpus,
            longest_time,
            answer.life_setting,
            answer.machine_network,
            dict(answer.never_paid),
            next(iter(answer.gpus_per_machine), 1),
            {one.gpu_type: _seconds_of(one) for one in answer.start_times},
        )

    async def watch_machines(self) -> AsyncIterator[vmpool_pb2.MachineEvent | None]:
        """Streams the present machines, None when these are all, then every transition.

        Raises PoolUnreachableError if the stream breaks.
        """
        with _translated({}):
            async for answer in self._stub.WatchMachines(vmpool_pb2.WatchMachinesRequest()):
                yield answer.event if answer.HasField("event") else None


def _seconds_of(start: vmpool_pb2.StartTime) -> tuple[float, float] | None:
    if not start.HasField("p50"):
        return None
    return start.p50.ToTimedelta().total_seconds(), start.p90.ToTimedelta().total_seconds()


def _lease_request(job: Job, lease_duration: timedelta) -> vmpool_pb2.AcquireLeaseRequest:
    return vmpool_pb2.AcquireLeaseRequest(
        job_id=job.job_id,
        attempt=job.attempt,
        gpu_type=job.spec.gpu_type,
        fallback_gpu_types=job.spec.fallback_gpu_types,
        duration=duration_to_proto(lease_duration),
        holder=vmpool_pb2.LEASE_HOLDER_RESERVATION if job.reservation else vmpool_pb2.LEASE_HOLDER_JOB,
        longest_time=duration_to_proto(job.longest_lease),
        idle_time=None if job.spec.idle_seconds is None else Duration(seconds=job.spec.idle_seconds),
    )


def _placed_from_proto(grant: vmpool_pb2.Grant) -> Placed:
    lease = grant.lease
    slots = tuple(Slot(slot.gpu, slot.first_eighth, slot.eighths) for slot in lease.slots)
    return Placed(
        _lease_from_proto(lease, slots), grant.machine, lease.start_kind, lease.gang_id, lease.machine_address
    )


def _lease_from_proto(lease: vmpool_pb2.Lease, slots: tuple[Slot, ...]) -> Lease:
    return Lease(
        lease_id=lease.lease_id,
        machine_id=lease.machine_id,
        executor_endpoint=lease.executor_endpoint,
        executor_token=lease.executor_token,
        fencing_token=lease.fencing_token,
        expire_time=lease.expire_time.ToDatetime(UTC),
        slots=slots,
    )


@contextmanager
def _translated(errors: Mapping[grpc.StatusCode, type[PoolError]]) -> Generator[None]:
    try:
        yield
    except grpc.aio.AioRpcError as error:
        failure = rpc_failure(error)
        kind = PoolUnreachableError if _calls.is_unreachable(error) else errors.get(failure.code, PoolRefusalError)
        raise kind(failure.message) from error
