"""VmPoolService: decode, ask, encode."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, replace

import grpc
from wavepool.vmpool.v1 import vmpool_pb2 as pb
from wavepool.vmpool.v1 import vmpool_pb2_grpc

from servicekit.clock import Clock
from servicekit.rpc.access import current_caller
from servicekit.rpc.farewell import caller_leaves
from servicekit.rpc.proto_of import proto_of
from services.vmpool.capacity.lease_acquisition import LeaseAcquisition
from services.vmpool.capacity.offering import offering_of
from services.vmpool.capacity.requesting import Requesting
from services.vmpool.capacity.scope_checks import check_scope_size, longest_lived, possible_types
from services.vmpool.capacity.sizer import Sizer
from services.vmpool.config import VmPoolSettings
from services.vmpool.errors import InvalidFieldError, LeaseNotFoundError
from services.vmpool.lifecycle.tunnels import Tunnels
from services.vmpool.machines.lease import Holder, Lease, LeaseRequest, PlacedRequest
from services.vmpool.machines.machine import Halt
from services.vmpool.machines.order_checks import check_gpu_type
from services.vmpool.policy.demand_board import DemandBoard
from services.vmpool.providers.provider_set import ProviderSet
from services.vmpool.store.history_store import HistoryStore
from services.vmpool.store.lease_store import LeaseStore
from services.vmpool.store.machine_store import MachineStore
from services.vmpool.telemetry.diagnosing import findings_of, stopped_findings
from services.vmpool.telemetry.log_reader import LogReader
from services.vmpool.telemetry.log_tail import check_tail_lines
from services.vmpool.telemetry.watching import Watching
from services.vmpool.wire.leases import (
    demands_from_proto,
    grants_to_proto,
    lease_duration_from_proto,
    lease_request_from_proto,
    plan_to_proto,
    pool_metrics_to_proto,
    tunnel_bytes_from_proto,
    tunnel_target_from_proto,
)
from services.vmpool.wire.machines import event_to_proto, machine_to_proto
from services.vmpool.wire.operators import (
    failures_to_proto,
    findings_to_proto,
    machine_request_from_proto,
    offering_to_proto,
    stopped_to_proto,
)
from vocabulary.slots import gpus_for

Context = grpc.aio.ServicerContext[object, object]


@dataclass(frozen=True)
class VmPoolServicer(vmpool_pb2_grpc.VmPoolServiceServicer):
    """Serves the RPCs; `vmpool.proto` describes them."""

    settings: VmPoolSettings
    machines: MachineStore
    leases: LeaseStore
    history: HistoryStore
    leasing: LeaseAcquisition
    demand: DemandBoard
    sizer: Sizer
    watching: Watching
    requesting: Requesting
    logs: LogReader
    tunnels: Tunnels
    providers: ProviderSet
    clock: Clock

    async def AcquireLease(self, request: pb.AcquireLeaseRequest, context: Context) -> pb.AcquireLeaseResponse:
        """Take slots for a job."""
        wanted, caller = lease_request_from_proto(request, self.settings), current_caller()
        if caller.name and wanted.holder is Holder.RESERVATION:
            raise InvalidFieldError("holder", "must be LEASE_HOLDER_JOB: only the scheduler makes reservations")
        if caller.name and isinstance(wanted, LeaseRequest):
            # Our scheduler refuses its users what can never be had, and its jobs may wait for the operator.
            check_scope_size(gpus_for(wanted.eighths), self.providers)
        wanted = replace(wanted, job_id=caller.own(wanted.job_id))
        if isinstance(wanted, PlacedRequest):
            grants = await self.leasing.place(wanted)
        else:
            grants = [await self.leasing.acquire(wanted)]
        return grants_to_proto(grants, self.clock.now())

    async def RenewLease(self, request: pb.RenewLeaseRequest, context: Context) -> pb.RenewLeaseResponse:
        """Move a lease's expiry."""
        holder = (await self._callers_lease(request.lease_id)).holder
        duration = lease_duration_from_proto(request, holder, self.settings)
        lease = await self.leases.renew(request.lease_id, duration)
        return proto_of(pb.RenewLeaseResponse, lease)

    async def ReleaseLease(self, request: pb.ReleaseLeaseRequest, context: Context) -> pb.ReleaseLeaseResponse:
        """Give a lease's slots back."""
        reason = request.reason or "released"
        await self._callers_lease(request.lease_id)
        await self.leases.release(
            request.lease_id, reason, drain_machine=request.machine_suspect, unfit_reason=request.unfit_reason
        )
        return pb.ReleaseLeaseResponse()

    async def ReportDemand(self, request: pb.ReportDemandRequest, context: Context) -> pb.ReportDemandResponse:
        """Record the work that waits, and start machines for it."""
        demands = demands_from_proto(request, self.settings.gpu_types)
        self.demand.report(demands, self.clock.now())
        starting, plan = await self.sizer.resize()
        return plan_to_proto(starting, plan)

    async def ListMachines(self, request: pb.ListMachinesRequest, context: Context) -> pb.ListMachinesResponse:
        """List machines."""
        now = self.clock.now()
        machines = await self.machines.all(include_ended=request.include_ended)
        return pb.ListMachinesResponse(
            machines=[machine_to_proto(machine, now) for machine in machines],
            refused_providers=failures_to_proto(self.providers.refusals),
            stopped_sources=stopped_to_proto(await self.sizer.stopped(), now),
        )

    async def GetMachine(self, request: pb.GetMachineRequest, context: Context) -> pb.GetMachineResponse:
        """Get one machine."""
        machine = await self.machines.get(request.machine_id)
        return pb.GetMachineResponse(machine=machine_to_proto(machine, self.clock.now()))

    async def WatchMachines(
        self, request: pb.WatchMachinesRequest, context: Context
    ) -> AsyncIterator[pb.WatchMachinesResponse]:
        """Stream machine events."""
        after_seq, machine_id, watching = request.after_seq, request.machine_id, self.watching
        events = watching.follow_machine(machine_id, after_seq) if machine_id else watching.follow(after_seq)
        async for event in events:
            limit = self.providers.start_limit(event.machine) if event else None
            yield event_to_proto(event, limit) if event else pb.WatchMachinesResponse()

    async def RequestMachine(self, request: pb.RequestMachineRequest, context: Context) -> pb.RequestMachineResponse:
        """Ask for a machine that no job waits for."""
        machine, started = await self.requesting.request(machine_request_from_proto(request))
        return pb.RequestMachineResponse(machine=machine_to_proto(machine, self.clock.now()), started=started)

    async def DrainMachine(self, request: pb.DrainMachineRequest, context: Context) -> pb.DrainMachineResponse:
        """Let a machine finish its leases and stop; one that is draining or over stays as it is."""
        machine = await self.machines.drain(request.machine_id, request.reason or "asked to drain", force=request.force)
        return pb.DrainMachineResponse(machine=machine_to_proto(machine, self.clock.now()))

    async def StopMachine(self, request: pb.StopMachineRequest, context: Context) -> pb.StopMachineResponse:
        """Stop a machine at once and end its leases; one that is over stays as it is."""
        halt = Halt(request.reason or "asked to stop")
        machine = await self.machines.halt(request.machine_id, halt, force=request.force)
        return pb.StopMachineResponse(machine=machine_to_proto(machine, self.clock.now()))

    async def GetMachineLogs(
        self, request: pb.GetMachineLogsRequest, context: Context
    ) -> AsyncIterator[pb.GetMachineLogsResponse]:
        """Stream the output of a machine's executor."""
        tail_lines = check_tail_lines(request.tail_lines)
        log = self.logs.read(request.machine_id, follow=request.follow, tail_lines=tail_lines)
        async with aclosing(log):
            async for piece in log:
                yield pb.GetMachineLogsResponse(data=piece)

    async def OpenTunnel(
        self, request_iterator: AsyncIterator[pb.OpenTunnelRequest], context: Context
    ) -> AsyncIterator[pb.OpenTunnelResponse]:
        """Carry one SSH connection."""
        lease_id, session_id = tunnel_target_from_proto(await anext(request_iterator, pb.OpenTunnelRequest()))
        tunnel = self.tunnels.carry(lease_id, session_id, tunnel_bytes_from_proto(request_iterator))
        async with aclosing(tunnel) as outgoing:
            async for data in outgoing:
                yield pb.OpenTunnelResponse(data=data)
        yield pb.OpenTunnelResponse()
        await caller_leaves()

    async def ListOffers(self, request: pb.ListOffersRequest, context: Context) -> pb.ListOffersResponse:
        """Ask the providers for their offers."""
        gpu_type = check_gpu_type(request.gpu_type, self.settings.gpu_types) if request.gpu_type else ""
        return offering_to_proto(await offering_of(self.providers), gpu_type)

    async def ResumeRenting(self, request: pb.ResumeRentingRequest, context: Context) -> pb.ResumeRentingResponse:
        """Rent again from stopped sources."""
        gpu_type = check_gpu_type(request.gpu_type, self.settings.gpu_types) if request.gpu_type else ""
        resumed = await self.sizer.resume(gpu_type)
        return pb.ResumeRentingResponse(resumed_sources=stopped_to_proto(resumed, self.clock.now()))

    async def DiagnoseProviders(
        self, request: pb.DiagnoseProvidersRequest, context: Context
    ) -> pb.DiagnoseProvidersResponse:
        """Have the providers look for faults. Providers without any may be tried again."""
        findings = await findings_of(self.providers)
        for provider, found in findings.items():
            if all(finding.ok for finding in found):
                self.sizer.found_well(provider)
        stopped = stopped_findings(await self.sizer.stopped(), self.clock.now())
        return findings_to_proto({name: [*found, *stopped.get(name, ())] for name, found in findings.items()})

    async def GetPoolMetrics(self, request: pb.GetPoolMetricsRequest, context: Context) -> pb.GetPoolMetricsResponse:
        """Add up the pool's figures."""
        machines = await self.machines.all(include_ended=True)
        leases, forgotten = await self.leases.counts(), await self.history.totals()
        now, longest = self.clock.now(), longest_lived(self.providers)
        types = possible_types(self.settings.gpu_types, self.providers)
        answer = pool_metrics_to_proto(machines, leases, forgotten, now, self.settings, longest, types)
        if request.with_funds:
            answer.never_paid.update(await self.sizer.never_paid())
        return answer

    async def _callers_lease(self, lease_id: str) -> Lease:
        """The lease; raises LeaseNotFoundError also if another service calls and it is not its own."""
        lease = await self.leases.get(lease_id)
        if not current_caller().owns(lease.job_id):
            raise LeaseNotFoundError(lease_id)
        return lease
