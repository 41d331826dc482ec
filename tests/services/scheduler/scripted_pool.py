"""A vmpool whose machines, leases and behaviour a test sets by hand."""

# ruff: noqa: N802 - methods are named by the protos, and grpc's contexts have no useful type
from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any

import grpc
from google.protobuf.duration_pb2 import Duration
from wavepool.executor.v1 import inventory_pb2
from wavepool.vmpool.v1 import vmpool_pb2, vmpool_pb2_grpc

from servicekit.rpc.proto_time import duration_to_proto
from tests.services.scheduler.scripted_executor import TOKEN
from vocabulary.slots import WHOLE_GPU, Slot, free_slots, overlap, taken


class ScriptedPool(vmpool_pb2_grpc.VmPoolServiceServicer):
    """Gives one lease a machine. Leases end when they are released or when the test says so."""

    max_machines = 0
    gpus_per_machine = 1
    refused = 0
    releases_refused = 0
    machine_network = "10.128.0.0/20"
    never_paid: Mapping[str, str] = MappingProxyType({})
    start_seconds: Mapping[str, int] = MappingProxyType({})

    def __init__(self, executor_endpoint: str) -> None:
        self.executor_endpoint = executor_endpoint
        self.machines: dict[str, vmpool_pb2.Machine] = {}
        self.leases: dict[tuple[str, int], vmpool_pb2.Lease] = {}
        self.gangs: dict[tuple[str, int], list[vmpool_pb2.Lease]] = {}
        self.endpoints: dict[str, str] = {}
        """Of the machines that have executors of their own."""
        self.live: set[str] = set()
        self.releases: list[vmpool_pb2.ReleaseLeaseRequest] = []
        self.refused_jobs: set[str] = set()
        self.demands: list[dict[str, int]] = []
        self.granted: list[vmpool_pb2.AcquireLeaseRequest] = []
        self.renewals: list[timedelta] = []
        self.renewal_refusal: grpc.StatusCode | None = None
        self.longest_demands: list[list[timedelta]] = []
        """For how long each kind of work of each report has its machine."""
        self.own_demands: list[list[str]] = []
        """The jobs of each report that want machines of their own."""
        self.events: list[vmpool_pb2.MachineEvent] = []
        self.has_told_all = asyncio.Event()
        """Until it is set, streams of machines do not say that they have told of every machine."""
        self.has_told_all.set()
        self.changed = asyncio.Condition()
        self.refusal: grpc.StatusCode | None = None
        self.blocked_reason = ""
        self.blocked_by_gpu_type: dict[str, str] = {}
        self.start_kind = vmpool_pb2.START_KIND_WARM_REUSE
        self.acquired = asyncio.Event()
        self.longest_lease = timedelta(days=7)
        self.longest_time: timedelta | None = None
        self.release_refusal: grpc.StatusCode | None = None

    async def tell(
        self,
        machine_id: str,
        state: str,
        *,
        stage: str = "",
        gpu_type: str = "MI300X",
        device: str = "cpu",
        reason: str = "",
        torch_version: str = "",
        gpus: int = 1,
        runs_per_device: int = 1,
        free_masks: Sequence[int] = (),
        own_job_id: str = "",
        jobs_run: int = 0,
        registries: Sequence[str] | None = None,
    ) -> None:
        """Changes a machine's state and sends the event. A machine that drains does so after its leases have ended.

        `free_masks` are what the event says is free, whatever leases there are.
        """
        machine = vmpool_pb2.Machine(
            machine_id=machine_id,
            state=vmpool_pb2.MachineState.Value(f"MACHINE_STATE_{state}"),
            gpu_type=gpu_type,
            gpu_count=gpus,
            free_masks=free_masks or [WHOLE_GPU if state == "WARM" else 0] * gpus,
            device=device,
            own_job_id=own_job_id,
            jobs_run=jobs_run,
            reason=reason,
            leased_eighths=0 if state == "DRAINING" else None,
            inventory=inventory_pb2.Inventory(
                torch_version=torch_version,
                runs_per_device=runs_per_device,
                images=None if registries is None else inventory_pb2.ImageSources(registries=registries),
            ),
        )
        machine.create_time.FromDatetime(datetime(2026, 1, 1, tzinfo=UTC))
        self.machines[machine_id] = machine
        event = vmpool_pb2.MachineEvent(seq=len(self.events) + 1, machine=machine, provider_stage=stage)
        event.elapsed.FromSeconds(3)
        event.estimate.FromSeconds(40)
        event.estimate_p90.FromSeconds(90)
        event.start_limit.FromSeconds(1200)
        async with self.changed:
            self.events.append(event)
            self.changed.notify_all()

    async def swap(self, machine_id: str, **changes: Any) -> None:
        """There is this warm machine in place of machine-1."""
        await self.tell("machine-1", "STOPPED")
        await self.tell(machine_id, "WARM", **changes)

    async def AcquireLease(
        self, request: vmpool_pb2.AcquireLeaseRequest, context: Any
    ) -> vmpool_pb2.AcquireLeaseResponse:
        if self.refusal:
            self.refused += 1
            self.refused_jobs.add(request.job_id)
            await context.abort(self.refusal, "scripted refusal")
        key = (request.job_id, request.attempt)
        if len(request.placements) > 1:
            return await self._gang(key, request, context)
        if key not in self.leases:
            self.leases[key] = await self._grant(request, context)
            self.granted.append(request)
        self.acquired.set()
        lease = self.leases[key]
        return vmpool_pb2.AcquireLeaseResponse(
            grants=[vmpool_pb2.Grant(lease=lease, machine=self.machines[lease.machine_id])]
        )

    async def _gang(
        self, key: tuple[str, int], request: vmpool_pb2.AcquireLeaseRequest, context: Any
    ) -> vmpool_pb2.AcquireLeaseResponse:
        """All or none, as vmpool does it."""
        if key not in self.gangs:
            if not all(self._free(self.machines[one.machine_id], 0, one) for one in request.placements):
                await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "nothing is free now")
            self.gangs[key] = []
            for one in request.placements:
                lease = self._lease(request, one.machine_id, [_slot(slot) for slot in one.slots])
                lease.gang_id = f"gang-{request.job_id}"
                self.gangs[key].append(lease)
            self.granted.append(request)
        self.acquired.set()
        grants = [vmpool_pb2.Grant(lease=one, machine=self.machines[one.machine_id]) for one in self.gangs[key]]
        return vmpool_pb2.AcquireLeaseResponse(grants=grants)

    def _all(self) -> list[vmpool_pb2.Lease]:
        return [*self.leases.values(), *(lease for gang in self.gangs.values() for lease in gang)]

    async def _grant(self, request: vmpool_pb2.AcquireLeaseRequest, context: Any) -> vmpool_pb2.Lease:
        placement = next(iter(request.placements), None)
        found = [
            (machine.machine_id, slots)
            for gpu_type in (request.gpu_type, *request.fallback_gpu_types)
            for machine in self.machines.values()
            if machine.state == vmpool_pb2.MACHINE_STATE_WARM
            and machine.gpu_type == gpu_type
            and (placement is None or placement.machine_id == machine.machine_id)
            and (slots := self._free(machine, request.gpus * request.eighths, placement))
        ]
        if not found:
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "nothing is free now")
        return self._lease(request, *found[0])

    def _lease(
        self, request: vmpool_pb2.AcquireLeaseRequest, machine_id: str, slots: Sequence[Slot]
    ) -> vmpool_pb2.Lease:
        number = len(self._all()) + 1
        lease = vmpool_pb2.Lease(
            lease_id=f"lease-{number}",
            machine_id=machine_id,
            job_id=request.job_id,
            attempt=request.attempt,
            executor_endpoint=self.endpoints.get(machine_id, self.executor_endpoint),
            machine_address=f"10.128.0.{ord(machine_id[-1])}",
            executor_token=TOKEN,
            fencing_token=number,
            slots=[inventory_pb2.Slot(gpu=one.gpu, first_eighth=one.first, eighths=one.eighths) for one in slots],
            start_kind=self.start_kind,
        )
        lease.expire_time.FromDatetime(datetime.now(UTC) + request.duration.ToTimedelta())
        self.live.add(lease.lease_id)
        return lease

    def _free(
        self, machine: vmpool_pb2.Machine, eighths: int, placement: vmpool_pb2.Placement | None
    ) -> tuple[Slot, ...]:
        """The slots of the placement, or any of the size; empty if they are taken."""
        live = (lease for lease in self._all() if lease.lease_id in self.live)
        held = [_slot(one) for lease in live if lease.machine_id == machine.machine_id for one in lease.slots]
        occupied = taken((0,) * machine.gpu_count, held)
        if placement is None:
            return free_slots(occupied, eighths)
        slots = tuple(map(_slot, placement.slots))
        return () if overlap(occupied, slots) else slots

    async def RenewLease(self, request: vmpool_pb2.RenewLeaseRequest, context: Any) -> vmpool_pb2.RenewLeaseResponse:
        self.renewals.append(request.duration.ToTimedelta())
        if self.renewal_refusal:
            await context.abort(self.renewal_refusal, "scripted refusal")
        if not self._is_whole(request.lease_id):
            await context.abort(grpc.StatusCode.FAILED_PRECONDITION, "the lease has expired")
        if request.duration.ToTimedelta() > self.longest_lease:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "duration: the machine ends before")
        answer = vmpool_pb2.RenewLeaseResponse()
        answer.expire_time.FromDatetime(datetime.now(UTC) + request.duration.ToTimedelta())
        return answer

    def _is_whole(self, lease_id: str) -> bool:
        """True if the lease stands, and so do all of its gang."""
        gang = next((those for those in self.gangs.values() if any(one.lease_id == lease_id for one in those)), [])
        return self.live.issuperset({lease_id, *(one.lease_id for one in gang)})

    async def ReleaseLease(
        self, request: vmpool_pb2.ReleaseLeaseRequest, context: Any
    ) -> vmpool_pb2.ReleaseLeaseResponse:
        if self.release_refusal:
            self.releases_refused += 1
            await context.abort(self.release_refusal, "scripted refusal")
        self.releases.append(request)
        self.live.discard(request.lease_id)
        return vmpool_pb2.ReleaseLeaseResponse()

    async def ReportDemand(
        self, request: vmpool_pb2.ReportDemandRequest, context: Any
    ) -> vmpool_pb2.ReportDemandResponse:
        del context
        self.demands.append(
            {
                " or ".join((demand.gpu_type, *demand.fallback_gpu_types)): demand.jobs
                for demand in request.demands
                if not demand.own_job_id
            }
        )
        self.longest_demands.append([demand.longest_time.ToTimedelta() for demand in request.demands])
        self.own_demands.append([demand.own_job_id for demand in request.demands if demand.own_job_id])
        blocked = [
            vmpool_pb2.BlockedDemand(
                gpu_types=[demand.gpu_type, *demand.fallback_gpu_types],
                gpus=demand.gpus,
                own_job_id=demand.own_job_id,
                longest_time=demand.longest_time,
                reason=reason,
            )
            for demand in request.demands
            if (reason := self.blocked_by_gpu_type.get(demand.gpu_type, self.blocked_reason))
        ]
        return vmpool_pb2.ReportDemandResponse(blocked_reason=self.blocked_reason, blocked_demands=blocked)

    async def GetPoolMetrics(
        self, request: vmpool_pb2.GetPoolMetricsRequest, context: Any
    ) -> vmpool_pb2.GetPoolMetricsResponse:
        del request, context
        return vmpool_pb2.GetPoolMetricsResponse(
            max_machines=self.max_machines,
            gpus_per_machine=[self.gpus_per_machine],
            longest_time=duration_to_proto(self.longest_time),
            life_setting="VMPOOL_LIFE",
            machine_network=self.machine_network,
            never_paid=self.never_paid,
            start_times=[
                vmpool_pb2.StartTime(gpu_type=name, p50=Duration(seconds=seconds), p90=Duration(seconds=seconds))
                for name, seconds in self.start_seconds.items()
            ],
        )

    async def WatchMachines(
        self, request: vmpool_pb2.WatchMachinesRequest, context: Any
    ) -> AsyncIterator[vmpool_pb2.WatchMachinesResponse]:
        del context
        sent, is_complete = request.after_seq, False
        while True:
            for event in self.events[sent:]:
                sent += 1
                yield vmpool_pb2.WatchMachinesResponse(event=event)
            if not is_complete:
                await self.has_told_all.wait()
                yield vmpool_pb2.WatchMachinesResponse()
                is_complete = True
            await self._more_events_than(sent)

    async def _more_events_than(self, sent: int) -> None:
        async with self.changed:
            await self.changed.wait_for(lambda: len(self.events) > sent)


def _slot(slot: inventory_pb2.Slot) -> Slot:
    return Slot(slot.gpu, slot.first_eighth, slot.eighths)
