"""Client of vmpool: leases, demand and the states of machines."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING

import grpc
from wavepool.vmpool.v1 import vmpool_pb2, vmpool_pb2_grpc

from servicekit.rpc.errors import rpc_failure
from servicekit.rpc.proto_time import duration_to_proto
from services.scheduler.jobs.spec import Lease
from services.scheduler.peers.rpc_codes import ServiceCalls

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Generator, Mapping
    from datetime import datetime, timedelta

    from services.scheduler.jobs.job import Job

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


@dataclass(frozen=True)
class Placed:
    """A job's lease with the state of its machine."""

    lease: Lease
    machine: vmpool_pb2.Machine
    start_kind: vmpool_pb2.StartKind.ValueType


class Pool:
    """Client of the vmpool service."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._stub = vmpool_pb2_grpc.VmPoolServiceStub(channel)

    async def acquire(self, job: Job, machine_id: str | None, eighths: int, lease_duration: timedelta) -> Placed:
        """Leases slots for the job's present attempt. Repeated calls give the same lease.

        Raises PoolBusyError, JobHasLeaseError, PoolRefusalError, PoolUnreachableError.
        """
        request = vmpool_pb2.AcquireLeaseRequest(
            job_id=job.job_id,
            attempt=job.attempt,
            gpu_type=job.spec.gpu_type,
            fallback_gpu_types=job.spec.fallback_gpu_types,
            eighths=eighths,
            machine_id=machine_id or "",
            duration=duration_to_proto(lease_duration),
        )
        with _translated(_ACQUIRE_ERRORS):
            answer = await self._stub.AcquireLease(request, timeout=CALL_SECONDS)
        return Placed(_lease_from_proto(answer.lease), answer.machine, answer.lease.start_kind)

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

    async def report_demand(
        self, jobs_by_gpu_types: Mapping[tuple[str, ...], int], eighths: int
    ) -> dict[tuple[str, ...], str]:
        """Reports all waiting jobs by the GPU types that they may run on, the wanted one first.

        Gives the reason for each tuple of types whose demand is blocked, with the next step that vmpool tries.
        """
        demands = [
            vmpool_pb2.Demand(gpu_type=wanted, fallback_gpu_types=fallbacks, eighths=eighths, jobs=jobs)
            for (wanted, *fallbacks), jobs in sorted(jobs_by_gpu_types.items())
        ]
        with _translated({}):
            answer = await self._stub.ReportDemand(
                vmpool_pb2.ReportDemandRequest(demands=demands), timeout=CALL_SECONDS
            )
        return {tuple(blocked.gpu_types): blocked.reason for blocked in answer.blocked_demands}

    async def watch_machines(self) -> AsyncIterator[vmpool_pb2.MachineEvent]:
        """Streams the present machines, then every transition; raises PoolUnreachableError if the stream breaks."""
        with _translated({}):
            async for answer in self._stub.WatchMachines(vmpool_pb2.WatchMachinesRequest()):
                yield answer.event


def _lease_from_proto(lease: vmpool_pb2.Lease) -> Lease:
    return Lease(
        lease_id=lease.lease_id,
        machine_id=lease.machine_id,
        executor_endpoint=lease.executor_endpoint,
        executor_token=lease.executor_token,
        fencing_token=lease.fencing_token,
        eighths=lease.eighths,
        expire_time=lease.expire_time.ToDatetime(UTC),
        gpu=lease.gpu if lease.HasField("gpu") else None,
        first_eighth=lease.first_eighth if lease.HasField("first_eighth") else None,
    )


@contextmanager
def _translated(errors: Mapping[grpc.StatusCode, type[PoolError]]) -> Generator[None]:
    try:
        yield
    except grpc.aio.AioRpcError as error:
        failure = rpc_failure(error)
        kind = PoolUnreachableError if _calls.is_unreachable(error) else errors.get(failure.code, PoolRefusalError)
        raise kind(failure.message) from error
