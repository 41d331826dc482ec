"""Collects the readings of the pool."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

import grpc
from wavepool.billing.v1 import alerts_pb2 as pb
from wavepool.billing.v1 import alerts_pb2_grpc

from servicekit.clock import Clock
from servicekit.rpc.proto_of import proto_of
from services.vmpool import metrics
from services.vmpool.capacity.sizer import Sizer
from services.vmpool.lifecycle.load_book import LoadBook
from services.vmpool.machines.pool_readings import (
    demand_readings,
    failure_readings,
    machine_readings,
    stopped_reading,
)
from services.vmpool.policy.demand_board import DemandBoard
from services.vmpool.providers.provider_set import ProviderSet
from services.vmpool.store.machine_store import MachineStore
from services.vmpool.telemetry.unmet_demand import unmet_demand
from vocabulary.readings import Reading

CALL_SECONDS = 5.0


@dataclass(frozen=True)
class PoolMonitor:
    """Knows how busy the machines are, which failed in the window, and what the pool cannot start."""

    machines: MachineStore
    sizer: Sizer
    demand: DemandBoard
    loads: LoadBook
    providers: ProviderSet
    max_machines: int
    clock: Clock

    async def readings(self) -> list[Reading]:
        """Everything that alerts are made from, now."""
        now, window = self.clock.now(), self.loads.window
        present = await self.machines.unreleased()
        backing_off = await self.sizer.backing_off()
        loads = {machine.machine_id: self.loads.mean(machine.machine_id, now) for machine in present}
        unmet = unmet_demand(self.demand.present(now), present, self.max_machines, backing_off, now)
        found = [
            *machine_readings(present, loads, window, now),
            *failure_readings(self.providers.names, await self.machines.ended_since(now - window)),
            *demand_readings(unmet),
            stopped_reading(source for source, failed in backing_off.items() if failed.is_stopped),
        ]
        metrics.show_readings(found)
        return found


def reading_sender(channel: grpc.aio.Channel, valid_for: timedelta) -> Callable[[Sequence[Reading]], Awaitable[None]]:
    """A function that reports all readings to billing, and raises AioRpcError if it does not take them."""
    alerts = alerts_pb2_grpc.AlertServiceStub(channel)

    async def send(readings: Sequence[Reading]) -> None:
        reported = [proto_of(pb.Reading, one, time=None) for one in readings]
        request = proto_of(pb.ReportReadingsRequest, source="vmpool", valid_for=valid_for, readings=reported)
        await alerts.ReportReadings(request, timeout=CALL_SECONDS)

    return send
