"""Machines with several GPUs over the RPCs: demand starts them; jobs lease parts of them, several GPUs, and gangs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from wavepool.executor.v1 import inventory_pb2
from wavepool.vmpool.v1 import vmpool_pb2 as pb

from services.scheduler.jobs.job import Job
from services.scheduler.jobs.resources import Resources
from services.scheduler.jobs.spec import Placement, WorkKind
from services.scheduler.peers.pool import JobHasLeaseError, LeaseGoneError, Pool, PoolBusyError, PoolRefusalError
from services.vmpool import metrics
from services.vmpool.config import VmPoolSettings
from services.vmpool.machines.machine import Halt, MachineState
from services.vmpool.providers.provider import Offer
from tests.refused_calls import refused
from tests.service_token import AllowedCaller
from tests.services.scheduler.jobs import a_queued_job
from tests.services.vmpool.conftest import ON_SQLITE, Bench
from tests.services.vmpool.test_service import acquire
from vocabulary.slots import Slot

if TYPE_CHECKING:
    from wavepool.vmpool.v1.vmpool_pb2_grpc import VmPoolServiceAsyncStub

MINUTE = timedelta(minutes=1)
HOURLY = 1_000_000
SIZES = (1, 8)


pytestmark = ON_SQLITE


@pytest.fixture
def settings(settings: VmPoolSettings) -> VmPoolSettings:
    return settings.model_copy(update={"gpus_per_machine": SIZES})


@pytest.fixture
def bench(bench: Bench) -> Bench:
    bench.provider.offered = [Offer("scripted", "MI300X", count, count * HOURLY) for count in SIZES]
    return bench


@pytest.fixture
async def pool(bench: Bench, stub: VmPoolServiceAsyncStub) -> AsyncIterator[Pool]:
    """The scheduler's own client."""
    del stub
    async with AllowedCaller(f"127.0.0.1:{bench.vmpool.server.port}", bench.settings.service_token()) as channel:
        yield Pool(channel)


def whole(*gpus: int) -> tuple[Slot, ...]:
    return tuple(Slot(gpu, 0, 8) for gpu in gpus)


def slots(*gpus: int, first: int = 0, eighths: int = 8) -> list[inventory_pb2.Slot]:
    return [inventory_pb2.Slot(gpu=gpu, first_eighth=first, eighths=eighths) for gpu in gpus]


def placement(machine_id: str, named: list[inventory_pb2.Slot]) -> pb.Placement:
    return pb.Placement(machine_id=machine_id, slots=named)


async def gpu_counts(bench: Bench) -> list[int]:
    return sorted(machine.gpu_count for machine in await bench.machines.unreleased())


async def test_a_job_on_eight_gpus_starts_a_machine_that_has_them_and_leases_it_whole(bench: Bench, pool: Pool) -> None:
    kind = WorkKind(("MI300X",), gpus=8)
    assert await pool.report_demand({kind: 1}) == {}
    assert await gpu_counts(bench) == [8]
    await bench.passes(3)
    placed = await pool.acquire(a_queued_job(1, resources=Resources(64)), MINUTE)
    assert placed.lease.slots == whole(*range(8))
    assert placed.lease.eighths == 64
    assert list(placed.machine.free_masks) == [0] * 8
    assert await pool.report_demand({}) == {}


async def test_a_job_gets_a_machine_of_its_own_that_the_pool_gives_to_no_other(bench: Bench, pool: Pool) -> None:
    await pool.report_demand({WorkKind(("MI300X",)): 1})
    await bench.passes(3)
    [old] = [machine.machine_id for machine in await bench.machines.unreleased()]
    kind = WorkKind(("MI300X",), own_job_id="job-001")
    for _ in range(2):
        assert await pool.report_demand({kind: 1}) == {}
        await bench.passes(3)
    its = {machine.machine_id: machine.own_job_id for machine in await bench.machines.unreleased()}
    assert sorted(its.values()) == ["", "job-001"]
    assert (await pool.acquire(a_queued_job(2), MINUTE)).machine.machine_id == old
    with pytest.raises(PoolBusyError):
        await pool.acquire(a_queued_job(3), MINUTE)
    [new] = its.keys() - {old}
    [placed] = await pool.place(a_queued_job(1), [Placement(new, whole(0))], MINUTE)
    assert placed.machine.own_job_id == "job-001"
    await pool.release(placed.lease.lease_id)
    assert (await pool.acquire(a_queued_job(3), MINUTE)).machine.machine_id == new


async def test_a_machine_goes_as_early_as_its_only_job_asked_for_and_not_if_another_said_nothing(
    bench: Bench, pool: Pool
) -> None:
    def briefly(number: int) -> Job:
        job = a_queued_job(number, resources=Resources(4))
        return replace(job, spec=replace(job.spec, idle_seconds=5))

    await pool.report_demand({WorkKind(("MI300X",)): 1})
    await bench.passes(3)
    await pool.report_demand({})
    [machine] = await bench.machines.unreleased()
    [alone] = await pool.place(briefly(1), [Placement(machine.machine_id, (Slot(0, 0, 4),))], MINUTE)
    other = await pool.acquire(a_queued_job(2, resources=Resources(4)), MINUTE)
    for placed in (alone, other):
        await pool.release(placed.lease.lease_id)
    bench.clock.advance(timedelta(seconds=6))
    await bench.resize()
    assert await bench.state_of(machine.machine_id) is MachineState.WARM
    await pool.release((await pool.acquire(briefly(3), MINUTE)).lease.lease_id)
    bench.clock.advance(timedelta(seconds=4))
    await bench.resize()
    assert await bench.state_of(machine.machine_id) is MachineState.WARM
    bench.clock.advance(timedelta(seconds=2))
    await bench.resize()
    assert await bench.state_of(machine.machine_id) is not MachineState.WARM


async def test_an_idle_time_below_0_is_refused(bench: Bench, pool: Pool) -> None:
    del bench
    job = a_queued_job(1)
    with pytest.raises(PoolRefusalError, match="idle_time"):
        await pool.acquire(replace(job, spec=replace(job.spec, idle_seconds=-1)), MINUTE)


async def test_small_jobs_do_not_start_large_machines(bench: Bench, pool: Pool) -> None:
    await pool.report_demand({WorkKind(("MI300X",)): 1, WorkKind(("MI300X",), eighths=4): 2})
    assert await gpu_counts(bench) == [1, 1]


async def test_work_that_no_machine_is_large_enough_for_hears_what_there_is(bench: Bench, pool: Pool) -> None:
    bench.provider.offered = [Offer("scripted", "MI300X", 1, HOURLY)]
    blocked = await pool.report_demand({WorkKind(("MI300X",), gpus=4): 2, WorkKind(("MI300X",)): 1})
    assert blocked == {
        (("MI300X",), 4, "", 0): (
            "no machine with 4 MI300X or more can be had: the providers offer 1, and VMPOOL_GPUS_PER_MACHINE allows "
            "1, 8"
        )
    }
    assert await gpu_counts(bench) == [1]
    with pytest.raises(PoolBusyError, match="No machine has room now: 1 on the way"):
        await pool.acquire(a_queued_job(1, resources=Resources(32)), MINUTE)


async def test_the_scheduler_places_by_itself_on_what_the_machines_report(bench: Bench, pool: Pool) -> None:
    for machine_id in ("m1", "m2"):
        await bench.add_warm(machine_id, gpu_count=8)
    (half,) = await pool.place(a_queued_job(1), [Placement("m1", (Slot(3, 4, 4),))], MINUTE)
    assert list(half.machine.free_masks) == [255, 255, 255, 0b1111, 255, 255, 255, 255]
    assert half.lease.slots == (Slot(3, 4, 4),)
    gang = [Placement("m1", whole(0, 1)), Placement("m2", whole(*range(8)))]
    first, second = await pool.place(a_queued_job(2), gang, MINUTE)
    assert (first.lease.slots, second.lease.slots) == (whole(0, 1), whole(*range(8)))
    assert first.gang_id == second.gang_id != half.gang_id == ""
    with pytest.raises(PoolBusyError, match="A lease holds GPU 3 of machine 'm1', or a part of it"):
        await pool.place(a_queued_job(3), [Placement("m1", whole(2, 3))], MINUTE)
    with pytest.raises(JobHasLeaseError):
        await pool.place(a_queued_job(2), gang[:1], MINUTE)
    assert [placed.lease for placed in await pool.place(a_queued_job(2), gang, MINUTE)] == [first.lease, second.lease]
    with pytest.raises(PoolRefusalError, match="m2 has the GPUs 0 to 7; it is 8"):
        await pool.place(a_queued_job(4), [Placement("m2", whole(8))], MINUTE)
    await pool.release(second.lease.lease_id)
    with pytest.raises(LeaseGoneError, match="of its gang, on machine m2, is over"):
        await pool.renew(first.lease.lease_id, MINUTE)


async def test_a_machine_that_takes_no_lease_reports_no_free_slots(bench: Bench, stub: VmPoolServiceAsyncStub) -> None:
    await bench.add_warm(gpu_count=2)
    seen = (await stub.GetMachine(pb.GetMachineRequest(machine_id="m1"))).machine
    assert (seen.gpu_count, list(seen.free_masks)) == (2, [255, 255])
    await bench.machines.drain("m1", "asked")
    assert list((await stub.GetMachine(pb.GetMachineRequest(machine_id="m1"))).machine.free_masks) == [0, 0]
    await refused(
        stub.AcquireLease(acquire(eighths=0, placements=[placement("m1", slots(0))])),
        grpc.StatusCode.FAILED_PRECONDITION,
        "is draining and cannot be leased",
    )


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"gpus": 3}, "gpus"),
        ({"gpus": 2, "eighths": 4}, "eighths"),
        ({"placements": [placement("m1", slots(0))]}, "placements"),
        ({"eighths": 0, "machine_id": "m1", "placements": [placement("m1", slots(0))]}, "placements"),
        ({"eighths": 0, "placements": [placement("", slots(0))]}, "placements.machine_id"),
        ({"eighths": 0, "placements": [placement("m1", slots(0)), placement("m1", slots(1))]}, "placements.machine_id"),
        ({"eighths": 0, "placements": [placement(f"m{n}", slots(0)) for n in range(65)]}, "placements"),
        ({"eighths": 0, "placements": [placement("m1", [])]}, "placements.slots"),
        ({"eighths": 0, "placements": [placement("m1", slots(0, 1, 2))]}, "placements.slots"),
        ({"eighths": 0, "placements": [placement("m1", slots(0, 0))]}, "placements.slots"),
        ({"eighths": 0, "placements": [placement("m1", slots(0, 1, eighths=4))]}, "placements.slots.eighths"),
        (
            {"eighths": 0, "placements": [placement("m1", slots(0, first=2, eighths=4))]},
            "placements.slots.first_eighth",
        ),
        ({"eighths": 0, "placements": [placement("m1", slots(2))]}, "placements.slots.gpu"),
        ({"eighths": 0, "gpu_type": "MI210", "placements": [placement("m1", slots(0))]}, "placements.machine_id"),
    ],
)
async def test_requests_that_no_machine_can_ever_meet_are_refused_by_field(
    bench: Bench, stub: VmPoolServiceAsyncStub, changes: dict[str, Any], field: str
) -> None:
    machine = await bench.add_warm(gpu_count=2)
    await refused(stub.AcquireLease(acquire(**changes)), grpc.StatusCode.INVALID_ARGUMENT, field=field)
    assert await bench.machines.get("m1") == machine


@pytest.mark.parametrize(
    ("demand", "field"),
    [
        (pb.Demand(gpu_type="MI300X", eighths=3, jobs=1), "demands.eighths"),
        (pb.Demand(gpu_type="MI300X", eighths=8, gpus=5, jobs=1), "demands.gpus"),
        (pb.Demand(gpu_type="MI300X", eighths=2, gpus=2, jobs=1), "demands.eighths"),
    ],
)
async def test_demand_for_sizes_that_there_are_not_is_refused_by_field(
    stub: VmPoolServiceAsyncStub, demand: pb.Demand, field: str
) -> None:
    await refused(
        stub.ReportDemand(pb.ReportDemandRequest(demands=[demand])), grpc.StatusCode.INVALID_ARGUMENT, field=field
    )


async def test_no_machine_is_started_for_a_gang_that_has_just_got_its_leases(bench: Bench, pool: Pool) -> None:
    kind = WorkKind(("MI300X",), gpus=8)
    await pool.report_demand({kind: 2})
    await bench.passes(3)
    ids = [machine.machine_id for machine in await bench.machines.unreleased()]
    await pool.place(a_queued_job(1), [Placement(machine_id, whole(*range(8))) for machine_id in ids], MINUTE)
    await bench.machines.halt(ids[0], Halt("it burns"))
    await bench.passes(2)
    await bench.vmpool.sizer.run_once()
    assert [machine.machine_id for machine in await bench.machines.unreleased()] == ids[1:]
    assert await bench.state_of(ids[0]) is MachineState.STOPPED


async def test_metrics_show_the_gpus_in_use_and_count_gangs(bench: Bench, pool: Pool) -> None:
    await pool.report_demand({WorkKind(("MI300X",), gpus=8): 2})
    await bench.passes(3)
    ids = [machine.machine_id for machine in await bench.machines.unreleased()]
    gangs = metrics.gangs_granted._value.get()
    await pool.place(a_queued_job(1), [Placement(machine_id, whole(0, 1)) for machine_id in ids], MINUTE)
    await pool.place(a_queued_job(2), [Placement(ids[0], (Slot(2, 0, 4),))], MINUTE)
    await bench.passes()
    assert metrics.gangs_granted._value.get() == gangs + 1
    in_use = {use: metrics.gpus.labels(use)._value.get() for use in ("leased", "free")}
    assert in_use == {"leased": 4.5, "free": 11.5}
