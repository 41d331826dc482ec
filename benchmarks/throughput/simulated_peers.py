"""A pool, an executor and a billing service that answer at once and keep nothing on disk.

They answer the scheduler over gRPC on loopback with the messages of the real ones: a lease and a released lease change
their machine, and each change is an event of the stream of machines, as vmpool's are. A run has one event, its end.
"""

# ruff: noqa: ANN401, N802 - methods are named by the protos, and grpc's contexts have no useful type
from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from typing import Any

import grpc
from wavepool.billing.v1 import billing_pb2, billing_pb2_grpc, prices_pb2, prices_pb2_grpc
from wavepool.executor.v1 import executor_pb2, executor_pb2_grpc, inventory_pb2, run_event_pb2
from wavepool.vmpool.v1 import vmpool_pb2, vmpool_pb2_grpc

from vocabulary.money import price_of

GPU_TYPE = "MI300X"
GPUS_OF_MACHINE = 8
EIGHTHS = 8
WHOLE_GPU = 2**EIGHTHS - 1
"""All eighths of a GPU, as in `free_masks`."""
PRICE_MICROS_PER_HOUR = 1_990_000


class SimulatedPool(vmpool_pb2_grpc.VmPoolServiceServicer):
    """Leases whole GPUs of a fixed number of machines."""

    def __init__(self, machines: int, executor_endpoint: str) -> None:
        self._endpoint = executor_endpoint
        self._free = {f"machine-{number}": set(range(GPUS_OF_MACHINE)) for number in range(machines)}
        self._leases: dict[str, tuple[str, int]] = {}
        self._leased = 0
        self._events: list[vmpool_pb2.MachineEvent] = [self._event(machine_id) for machine_id in self._free]
        self._news = asyncio.Event()

    async def AcquireLease(
        self, request: vmpool_pb2.AcquireLeaseRequest, context: Any
    ) -> vmpool_pb2.AcquireLeaseResponse:
        """Leases a GPU of the machine that is asked for, or of the first that has a free one."""
        wanted = [request.machine_id] if request.machine_id else list(self._free)
        machine_id = next((one for one in wanted if self._free[one]), "")
        if not machine_id:
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "nothing is free now")
        gpu = min(self._free[machine_id])
        self._free[machine_id].remove(gpu)
        self._leased += 1
        lease = vmpool_pb2.Lease(
            lease_id=f"lease-{self._leased}",
            machine_id=machine_id,
            job_id=request.job_id,
            attempt=request.attempt,
            executor_endpoint=self._endpoint,
            executor_token="token",  # noqa: S106 - opens nothing
            fencing_token=self._leased,
            slots=[inventory_pb2.Slot(gpu=gpu, eighths=EIGHTHS)],
            start_kind=vmpool_pb2.START_KIND_WARM_REUSE,
        )
        lease.expire_time.FromDatetime(datetime.now(UTC) + request.duration.ToTimedelta())
        self._leases[lease.lease_id] = (machine_id, gpu)
        grant = vmpool_pb2.Grant(lease=lease, machine=self._changed(machine_id).machine)
        return vmpool_pb2.AcquireLeaseResponse(grants=[grant])

    async def RenewLease(self, request: vmpool_pb2.RenewLeaseRequest, context: Any) -> vmpool_pb2.RenewLeaseResponse:
        """Renews."""
        del context
        answer = vmpool_pb2.RenewLeaseResponse()
        answer.expire_time.FromDatetime(datetime.now(UTC) + request.duration.ToTimedelta())
        return answer

    async def ReleaseLease(
        self, request: vmpool_pb2.ReleaseLeaseRequest, context: Any
    ) -> vmpool_pb2.ReleaseLeaseResponse:
        """Frees the GPU."""
        del context
        if leased := self._leases.pop(request.lease_id, None):
            machine_id, gpu = leased
            self._free[machine_id].add(gpu)
            self._changed(machine_id)
        return vmpool_pb2.ReleaseLeaseResponse()

    async def ReportDemand(
        self, request: vmpool_pb2.ReportDemandRequest, context: Any
    ) -> vmpool_pb2.ReportDemandResponse:
        """Takes note: the machines are as many as they are."""
        del request, context
        return vmpool_pb2.ReportDemandResponse()

    async def WatchMachines(
        self, request: vmpool_pb2.WatchMachinesRequest, context: Any
    ) -> AsyncIterator[vmpool_pb2.WatchMachinesResponse]:
        """Streams every change."""
        del context
        sent = request.after_seq
        while True:
            self._news.clear()
            while sent < len(self._events):
                yield vmpool_pb2.WatchMachinesResponse(event=self._events[sent])
                sent += 1
            await self._news.wait()

    def _changed(self, machine_id: str) -> vmpool_pb2.MachineEvent:
        event = self._event(machine_id)
        event.seq = len(self._events) + 1
        self._events.append(event)
        self._news.set()
        return event

    def _event(self, machine_id: str) -> vmpool_pb2.MachineEvent:
        free = self._free[machine_id]
        state = "WARM" if len(free) == GPUS_OF_MACHINE else "BUSY"
        machine = vmpool_pb2.Machine(
            machine_id=machine_id,
            state=vmpool_pb2.MachineState.Value(f"MACHINE_STATE_{state}"),
            gpu_type=GPU_TYPE,
            gpu_count=GPUS_OF_MACHINE,
            free_eighths=len(free) * EIGHTHS,
            leased_eighths=(GPUS_OF_MACHINE - len(free)) * EIGHTHS,
            free_masks=[WHOLE_GPU if gpu in free else 0 for gpu in range(GPUS_OF_MACHINE)],
            device="cpu",
        )
        machine.create_time.FromDatetime(datetime(2026, 1, 1, tzinfo=UTC))
        return vmpool_pb2.MachineEvent(machine=machine)


class SimulatedExecutor(executor_pb2_grpc.ExecutorServiceServicer):
    """Every run is accepted at once."""

    def __init__(self) -> None:
        event = run_event_pb2.RunEvent(seq=1)
        event.finished.verdict = run_event_pb2.VERDICT_ACCEPTED
        event.finished.message = "all passed"
        event.finished.billable.FromMilliseconds(1)
        self._end = executor_pb2.RunResponse(event=event)

    async def Run(self, request: executor_pb2.RunRequest, context: Any) -> AsyncIterator[executor_pb2.RunResponse]:
        """Ends at once."""
        del request, context
        yield self._end


class SimulatedBilling(billing_pb2_grpc.BillingServiceServicer, prices_pb2_grpc.PriceServiceServicer):
    """Everybody has credit. `settled` is called with the hold of each settlement, which is the job's."""

    def __init__(self, settled: Callable[[str], None]) -> None:
        self._settled = settled

    async def ListPrices(self, request: prices_pb2.ListPricesRequest, context: Any) -> prices_pb2.ListPricesResponse:
        """One GPU type."""
        del request, context
        price = prices_pb2.Price(gpu_type=GPU_TYPE, price_micros_per_hour=PRICE_MICROS_PER_HOUR)
        return prices_pb2.ListPricesResponse(prices=[price])

    async def ReserveCredit(
        self, request: billing_pb2.ReserveCreditRequest, context: Any
    ) -> billing_pb2.ReserveCreditResponse:
        """Puts nothing on hold."""
        del context
        amount = price_of(request.longest_time.ToTimedelta(), PRICE_MICROS_PER_HOUR)
        prices = {GPU_TYPE: PRICE_MICROS_PER_HOUR}
        return billing_pb2.ReserveCreditResponse(
            hold_id=request.subject, amount_micros=amount, prices_micros_per_hour=prices
        )

    async def SettleCharge(
        self, request: billing_pb2.SettleChargeRequest, context: Any
    ) -> billing_pb2.SettleChargeResponse:
        """Charges nothing."""
        del context
        self._settled(request.hold_id)
        return billing_pb2.SettleChargeResponse(charged_micros=request.amount_micros)


async def serve_peers(machines: int, settled: Callable[[str], None]) -> tuple[grpc.aio.Server, str]:
    """Serves all three on one port of loopback; gives the server and its address."""
    server = grpc.aio.server()
    port = server.add_insecure_port("127.0.0.1:0")
    address = f"127.0.0.1:{port}"
    # Each answers only what the scheduler calls.
    pool = SimulatedPool(machines, address)  # pyright: ignore[reportAbstractUsage]
    executor = SimulatedExecutor()  # pyright: ignore[reportAbstractUsage]
    billing = SimulatedBilling(settled)  # pyright: ignore[reportAbstractUsage]
    vmpool_pb2_grpc.add_VmPoolServiceServicer_to_server(pool, server)
    executor_pb2_grpc.add_ExecutorServiceServicer_to_server(executor, server)
    billing_pb2_grpc.add_BillingServiceServicer_to_server(billing, server)
    prices_pb2_grpc.add_PriceServiceServicer_to_server(billing, server)
    await server.start()
    return server, address
