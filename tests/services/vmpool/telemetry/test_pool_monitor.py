"""What the pool reports to billing, from heartbeats to the call."""

# ruff: noqa: N802 - RPCs are VerbNoun
from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import grpc
import pytest
from wavepool.billing.v1 import alerts_pb2, alerts_pb2_grpc

from servicekit.clock import ManualClock
from services.vmpool.config import VmPoolSettings
from services.vmpool.machines.load import Load
from services.vmpool.machines.machine import MachineState
from services.vmpool.providers.provider import Observation, ProviderState
from tests.services.vmpool.conftest import Bench, a_request, bench_on
from tests.services.vmpool.scripted_provider import ScriptedProvider
from vocabulary import readings


class ScriptedAlerts(alerts_pb2_grpc.AlertServiceServicer):
    """Keeps the last report; fails while `failing`."""

    def __init__(self) -> None:
        self.failing = False
        self.report = alerts_pb2.ReportReadingsRequest()

    async def ReportReadings(self, request: Any, context: Any) -> alerts_pb2.ReportReadingsResponse:
        if self.failing:
            await context.abort(grpc.StatusCode.UNAVAILABLE, "billing is starting")
        self.report = request
        return alerts_pb2.ReportReadingsResponse()

    def values(self, name: str) -> list[float]:
        return [one.value for one in self.report.readings if one.name == name]


@pytest.fixture
async def alerts() -> AsyncIterator[tuple[ScriptedAlerts, str]]:
    server, scripted = grpc.aio.server(), ScriptedAlerts()
    alerts_pb2_grpc.add_AlertServiceServicer_to_server(scripted, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    yield scripted, f"127.0.0.1:{port}"
    await server.stop(0)


@pytest.fixture
async def bench(
    settings: VmPoolSettings, free_clock: ManualClock, alerts: tuple[ScriptedAlerts, str]
) -> AsyncIterator[Bench]:
    reporting = settings.model_copy(update={"billing_target": alerts[1]})
    async with bench_on(reporting, ScriptedProvider(), free_clock) as bench:
        yield bench


async def heartbeats(bench: Bench, count: int) -> None:
    for _ in range(count):
        bench.clock.advance(timedelta(minutes=1))
        await bench.passes()


async def test_a_machines_load_and_use_are_reported(bench: Bench, alerts: tuple[ScriptedAlerts, str]) -> None:
    scripted, _ = alerts
    bench.executors.load = Load(cpu_share=0.5, memory_share=0.25, gpu_share=0.0)
    machine = await bench.warm_machine()
    await heartbeats(bench, 2)
    await bench.vmpool.readings.run_once()
    assert (scripted.report.source, scripted.report.valid_for.ToTimedelta()) == ("vmpool", timedelta(seconds=45))
    assert scripted.values(readings.MACHINE_CPU) == [0.5]
    assert scripted.values(readings.MACHINE_MEMORY) == [0.25]
    assert scripted.values(readings.MACHINE_LEASED) == scripted.values(readings.MACHINE_GPU) == []
    await bench.leases.acquire(replace(a_request(), duration=timedelta(hours=1)))
    await heartbeats(bench, 31)
    await bench.vmpool.readings.run_once()
    [leased] = scripted.values(readings.MACHINE_LEASED)
    assert 0.9 < leased <= 1
    assert scripted.values(readings.MACHINE_GPU) == [0.0]
    assert [one.labels["machine"] for one in scripted.report.readings if one.name == readings.MACHINE_CPU] == [
        machine.machine_id
    ]


async def test_a_lost_machine_is_reported_for_the_window(bench: Bench, alerts: tuple[ScriptedAlerts, str]) -> None:
    scripted, _ = alerts
    machine = await bench.warm_machine()
    await bench.vmpool.readings.run_once()
    assert scripted.values(readings.FAILED_MACHINES) == [0.0]
    bench.provider.observations[machine.machine_id] = Observation(ProviderState.GONE, reason="it fell over")
    await heartbeats(bench, 1)
    assert await bench.state_of(machine.machine_id) is MachineState.LOST
    await bench.vmpool.readings.run_once()
    [reading] = [one for one in scripted.report.readings if one.name == readings.FAILED_MACHINES]
    assert (reading.value, dict(reading.labels), reading.details["reason"]) == (
        1.0,
        {"provider": "scripted"},
        "it fell over",
    )
    assert scripted.values(readings.MACHINE_CPU) == []
    bench.clock.advance(timedelta(minutes=31))
    await bench.vmpool.readings.run_once()
    assert scripted.values(readings.FAILED_MACHINES) == [0.0]


async def test_jobs_that_wait_for_a_full_pool_are_reported(bench: Bench, alerts: tuple[ScriptedAlerts, str]) -> None:
    scripted, _ = alerts
    await bench.demand(jobs=5)
    await bench.vmpool.readings.run_once()
    assert scripted.values(readings.UNMET_DEMAND) == [0.0], "machines are on their way"
    await bench.passes(3)
    for number in range(2):
        await bench.leases.acquire(a_request(f"job-{number}"))
    await bench.demand(jobs=3)
    await bench.vmpool.readings.run_once()
    assert scripted.values(readings.UNMET_DEMAND) == [3.0]


async def test_billing_that_does_not_answer_is_told_the_next_time(
    bench: Bench, alerts: tuple[ScriptedAlerts, str], caplog: pytest.LogCaptureFixture
) -> None:
    scripted, _ = alerts
    caplog.set_level("INFO")
    scripted.failing = True
    for _ in range(3):
        await bench.vmpool.readings.run_once()
    assert caplog.text.count("billing takes no readings now") == 1
    scripted.failing = False
    await bench.vmpool.readings.run_once()
    assert scripted.values(readings.STOPPED_SOURCES) == [0.0]
    assert "billing takes readings again" in caplog.text
