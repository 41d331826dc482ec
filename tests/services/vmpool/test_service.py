from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from datetime import timedelta
from ipaddress import IPv4Network
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from wavepool.executor.v1 import inventory_pb2
from wavepool.vmpool.v1 import vmpool_pb2 as pb

from servicekit.rpc.proto_time import duration_to_proto
from services.vmpool.machines.machine import Inventory, MachineState
from services.vmpool.policy.machine_budget import Funds
from services.vmpool.providers.provider import Scope
from tests.refused_calls import refused
from tests.services.vmpool.conftest import ON_SQLITE, Bench

if TYPE_CHECKING:
    from wavepool.vmpool.v1.vmpool_pb2_grpc import VmPoolServiceAsyncStub


pytestmark = ON_SQLITE


def acquire(job_id: str = "job", **changes: Any) -> pb.AcquireLeaseRequest:
    fields: dict[str, Any] = {"job_id": job_id, "attempt": 1, "gpu_type": "MI300X", "eighths": 8}
    return pb.AcquireLeaseRequest(**(fields | changes))


def seconds(number: int) -> Duration:
    return Duration(seconds=number)


async def test_a_lease_carries_what_its_holder_needs(bench: Bench, stub: VmPoolServiceAsyncStub) -> None:
    bench.executors.inventory = Inventory(address="10.128.0.7")
    machine = await bench.warm_machine()
    answer = await stub.AcquireLease(acquire(duration=seconds(30)))
    lease, machine_now = answer.grants[0].lease, answer.grants[0].machine
    assert (lease.executor_endpoint, lease.executor_token) == (machine.endpoint, machine.token)
    assert (lease.fencing_token, list(lease.slots), lease.start_kind) == (
        1,
        [inventory_pb2.Slot(eighths=8)],
        pb.START_KIND_COLD_START,
    )
    assert lease.machine_address == "10.128.0.7"
    assert lease.expire_time.seconds == int(bench.clock.now().timestamp()) + 30
    assert (machine_now.state, machine_now.free_eighths) == (pb.MACHINE_STATE_BUSY, 0)
    renewed = await stub.RenewLease(pb.RenewLeaseRequest(lease_id=lease.lease_id, duration=seconds(90)))
    assert renewed.expire_time.seconds == int(bench.clock.now().timestamp()) + 90
    await stub.ReleaseLease(pb.ReleaseLeaseRequest(lease_id=lease.lease_id))
    await refused(stub.RenewLease(pb.RenewLeaseRequest(lease_id=lease.lease_id)), grpc.StatusCode.FAILED_PRECONDITION)


async def test_asking_for_a_lease_starts_a_machine_and_says_so(bench: Bench, stub: VmPoolServiceAsyncStub) -> None:
    error = await refused(stub.AcquireLease(acquire()))
    assert (error.code, error.retry_after) == (grpc.StatusCode.RESOURCE_EXHAUSTED, timedelta(seconds=1))
    assert "1 on the way" in error.message
    await bench.passes(3)
    assert (await stub.AcquireLease(acquire())).grants[0].lease.start_kind == pb.START_KIND_COLD_START
    await bench.no_demand()
    assert len(bench.provider.provisioned) == 1


async def test_each_kind_of_work_hears_what_stands_in_its_own_way(bench: Bench, stub: VmPoolServiceAsyncStub) -> None:
    bench.provider.gpu_types = ("MI300X",)
    many = pb.Demand(gpu_type="MI300X", eighths=8, jobs=5)
    kinds = [many, pb.Demand(gpu_type="MI210", eighths=8, jobs=1, fallback_gpu_types=["MI300A"])]
    for _ in range(2):
        reported = await stub.ReportDemand(pb.ReportDemandRequest(demands=kinds))
    reasons = {tuple(blocked.gpu_types): blocked.reason for blocked in reported.blocked_demands}
    assert reasons == {
        ("MI300X",): "the limit of 2 machines is reached",
        ("MI210", "MI300A"): "no provider offers MI210 now; no provider offers MI300A now",
    }
    assert reported.blocked_reason in reasons.values()
    await refused(
        stub.AcquireLease(acquire(gpu_type="MI210", fallback_gpu_types=["MI300A"])), grpc.StatusCode.RESOURCE_EXHAUSTED
    )


async def test_demand_is_met_or_the_reason_is_reported(bench: Bench, stub: VmPoolServiceAsyncStub) -> None:
    demand = pb.ReportDemandRequest(demands=[pb.Demand(gpu_type="MI300X", eighths=8, jobs=3)])
    first = await stub.ReportDemand(demand)
    assert first.starting_machines == 2
    assert "limit of 2" in first.blocked_reason
    again = await stub.ReportDemand(demand)
    assert again.starting_machines == 2
    assert len(await bench.machines.unreleased()) == 2


async def test_no_machine_is_started_for_a_job_that_has_just_got_its_lease(
    bench: Bench, stub: VmPoolServiceAsyncStub
) -> None:
    await bench.demand()
    await bench.passes(3)
    await stub.AcquireLease(acquire())
    await bench.vmpool.sizer.run_once()
    assert len(await bench.machines.unreleased()) == 1


async def test_bad_requests_are_refused_by_field_and_change_nothing(bench: Bench, stub: VmPoolServiceAsyncStub) -> None:
    cases: list[tuple[Awaitable[Any], str]] = [
        (stub.AcquireLease(acquire(gpu_type="H100")), "gpu_type"),
        (stub.AcquireLease(acquire(eighths=3)), "eighths"),
        (stub.AcquireLease(acquire(job_id="")), "job_id"),
        (stub.AcquireLease(acquire(duration=seconds(0))), "duration"),
        (stub.AcquireLease(acquire(duration=seconds(10**12))), "duration"),
        (stub.ReportDemand(pb.ReportDemandRequest(demands=[pb.Demand(gpu_type="X", eighths=8)])), "demands.gpu_type"),
        (stub.ReportDemand(pb.ReportDemandRequest(demands=[pb.Demand()] * 1001)), "demands"),
        (anext(aiter(stub.WatchMachines(pb.WatchMachinesRequest(after_seq=-1)))), "after_seq"),
    ]
    for call, field in cases:
        await refused(call, grpc.StatusCode.INVALID_ARGUMENT, field=field)
    assert await bench.machines.all(include_ended=True) == []


async def test_what_does_not_exist_is_not_found(stub: VmPoolServiceAsyncStub) -> None:
    for call in (
        stub.AcquireLease(acquire(machine_id="none")),
        stub.RenewLease(pb.RenewLeaseRequest(lease_id="none")),
        stub.ReleaseLease(pb.ReleaseLeaseRequest(lease_id="none")),
        stub.GetMachine(pb.GetMachineRequest(machine_id="none")),
        stub.DrainMachine(pb.DrainMachineRequest(machine_id="none")),
        anext(aiter(stub.WatchMachines(pb.WatchMachinesRequest(machine_id="none")))),
    ):
        await refused(call, grpc.StatusCode.NOT_FOUND)


async def test_a_job_with_another_lease_already_exists(bench: Bench, stub: VmPoolServiceAsyncStub) -> None:
    await bench.warm_machine()
    await stub.AcquireLease(acquire(eighths=1))
    await refused(stub.AcquireLease(acquire(eighths=2)), grpc.StatusCode.ALREADY_EXISTS)


class Follower:
    """Reads a watch until it is cancelled."""

    def __init__(self, stub: VmPoolServiceAsyncStub, after_seq: int = 0) -> None:
        self._call = stub.WatchMachines(pb.WatchMachinesRequest(after_seq=after_seq))
        self._events = aiter(self._call)

    async def next(self, count: int) -> list[pb.MachineEvent]:
        found: list[pb.MachineEvent] = []
        async with asyncio.timeout(60):
            while len(found) < count:
                if (answer := await anext(self._events)).HasField("event"):
                    found.append(answer.event)
        return found

    async def until_complete(self) -> list[pb.MachineEvent]:
        """The events before the word that every machine has been told of."""
        found: list[pb.MachineEvent] = []
        async with asyncio.timeout(60):
            while (answer := await anext(self._events)).HasField("event"):
                found.append(answer.event)
        return found

    def close(self) -> None:
        self._call.cancel()


async def test_a_watch_from_the_start_says_when_every_machine_has_been_told_of(
    bench: Bench, stub: VmPoolServiceAsyncStub
) -> None:
    nothing = Follower(stub)
    assert await nothing.until_complete() == []
    await bench.demand()
    await bench.passes(3)
    last = (await nothing.next(4))[-1]

    assert [event.seq for event in await Follower(stub).until_complete()] == [last.seq]
    later = Follower(stub, after_seq=last.seq - 1)
    assert [event.seq for event in await later.next(1)] == [last.seq]


async def test_a_watch_tells_every_transition_as_it_happens(bench: Bench, stub: VmPoolServiceAsyncStub) -> None:
    follower = Follower(stub)
    await bench.demand()
    bench.clock.advance(timedelta(seconds=7))
    await bench.passes(3)
    events = await follower.next(4)
    assert [event.machine.state for event in events] == [
        pb.MACHINE_STATE_REQUESTED,
        pb.MACHINE_STATE_PROVISIONING,
        pb.MACHINE_STATE_STARTING,
        pb.MACHINE_STATE_WARM,
    ]
    assert [event.previous_state for event in events[1:]] == [event.machine.state for event in events[:-1]]
    assert events[3].elapsed == seconds(7)
    assert events[3].machine.device_title == "Scripted"
    follower.close()


async def test_a_watch_tells_of_freed_slots(bench: Bench, stub: VmPoolServiceAsyncStub) -> None:
    await bench.warm_machine()
    follower = Follower(stub)
    assert [event.machine.free_eighths for event in await follower.next(1)] == [8]
    for job_id in ("one", "two"):
        await stub.AcquireLease(acquire(job_id, eighths=4))
    lease = (await stub.AcquireLease(acquire("two", eighths=4))).grants[0].lease
    await stub.ReleaseLease(pb.ReleaseLeaseRequest(lease_id=lease.lease_id))
    assert [event.machine.free_eighths for event in await follower.next(3)] == [4, 0, 4]
    follower.close()


async def test_a_watch_resumes_after_any_event_it_was_given(bench: Bench, stub: VmPoolServiceAsyncStub) -> None:
    await bench.warm_machine()
    follower = Follower(stub, after_seq=2)
    assert [event.seq for event in await follower.next(2)] == [3, 4]
    follower.close()


async def test_a_watch_from_the_start_begins_with_machines_that_are_not_over(
    bench: Bench, stub: VmPoolServiceAsyncStub
) -> None:
    over = await bench.warm_machine()
    await bench.machines.drain(over.machine_id, "asked")
    await bench.passes()
    present = await bench.warm_machine()
    for after_seq in (0, 10**9):
        follower = Follower(stub, after_seq)
        (event,) = await follower.next(1)
        assert (event.machine.machine_id, event.machine.state) == (present.machine_id, pb.MACHINE_STATE_WARM)
        follower.close()


async def test_estimates_are_what_half_and_nine_tenths_of_earlier_starts_did_not_exceed(
    bench: Bench, stub: VmPoolServiceAsyncStub
) -> None:
    for start_seconds in (10, 20, 90):
        await bench.demand()
        bench.clock.advance(timedelta(seconds=start_seconds))
        await bench.passes(3)
        (machine,) = await bench.machines.unreleased()
        await bench.no_demand()
        await bench.machines.drain(machine.machine_id, "asked")
        await bench.passes()
    await bench.demand()
    follower = Follower(stub)
    (event,) = await follower.next(1)
    assert (event.estimate, event.estimate_p90) == (seconds(20), seconds(90))
    follower.close()


async def test_a_first_start_has_no_estimate_but_the_time_after_which_its_provider_gives_it_up(
    bench: Bench, stub: VmPoolServiceAsyncStub
) -> None:
    await bench.demand()
    follower = Follower(stub)
    (wanted,) = await follower.next(1)
    assert (wanted.HasField("estimate"), wanted.start_limit) == (False, seconds(120))
    follower.close()
    await bench.passes(3)
    follower = Follower(stub)
    (ready,) = await follower.next(1)
    assert (ready.machine.state, ready.HasField("start_limit")) == (pb.MACHINE_STATE_WARM, False)
    follower.close()


async def test_a_watch_of_one_machine_tells_its_whole_life_and_ends_with_its_release(
    bench: Bench, stub: VmPoolServiceAsyncStub
) -> None:
    machine = await bench.warm_machine()
    await bench.demand("MI210")
    watch = stub.WatchMachines(pb.WatchMachinesRequest(machine_id=machine.machine_id))
    reported = [(await anext(aiter(watch))).event]
    await bench.machines.drain(machine.machine_id, "asked")
    await bench.passes(2)
    async with asyncio.timeout(60):
        reported += [answer.event async for answer in watch]
    assert [event.machine.machine_id for event in reported] == [machine.machine_id] * 6
    assert (reported[0].machine.state, reported[-1].machine.state) == (
        pb.MACHINE_STATE_REQUESTED,
        pb.MACHINE_STATE_STOPPED,
    )
    assert reported[-1].machine.HasField("release_time")
    again = stub.WatchMachines(pb.WatchMachinesRequest(machine_id=machine.machine_id, after_seq=reported[3].seq))
    async with asyncio.timeout(60):
        assert [answer.event.seq async for answer in again] == [event.seq for event in reported[4:]]


async def test_drained_machines_stop_and_stay_listed_when_asked(bench: Bench, stub: VmPoolServiceAsyncStub) -> None:
    machine = await bench.warm_machine()
    request = pb.DrainMachineRequest(machine_id=machine.machine_id, reason="maintenance")
    assert (await stub.DrainMachine(request)).machine.state == pb.MACHINE_STATE_DRAINING
    await bench.passes()
    assert (await stub.ListMachines(pb.ListMachinesRequest())).machines == []
    (listed,) = (await stub.ListMachines(pb.ListMachinesRequest(include_ended=True))).machines
    assert (listed.state, listed.reason) == (pb.MACHINE_STATE_STOPPED, "maintenance")
    assert await bench.state_of(machine.machine_id) is MachineState.STOPPED


async def test_metrics_sum_the_pool_up(bench: Bench, stub: VmPoolServiceAsyncStub) -> None:
    machine = await bench.warm_machine()
    assert machine.ready_time
    started = duration_to_proto(machine.ready_time - machine.create_time)
    bench.clock.advance(timedelta(seconds=30))
    for attempt in range(2):
        lease = (await stub.AcquireLease(acquire(attempt=attempt))).grants[0].lease
        bench.clock.advance(timedelta(seconds=10))
        await stub.ReleaseLease(pb.ReleaseLeaseRequest(lease_id=lease.lease_id))
    await stub.AcquireLease(acquire(attempt=7))
    metrics = await stub.GetPoolMetrics(pb.GetPoolMetricsRequest())
    assert metrics == pb.GetPoolMetricsResponse(
        total_machines=1,
        active_machines=1,
        busy_machines=1,
        warm_reuses=3,
        idle_seconds=30,
        cost_micros=50_000_000,
        max_machines=bench.settings.most_machines(),
        gpus_per_machine=bench.settings.gpus_per_machine,
        start_times=[
            pb.StartTime(gpu_type="MI300X", p50=started, p90=started),
            *(pb.StartTime(gpu_type=gpu_type) for gpu_type in ("MI300A", "MI250X", "MI210")),
        ],
    )
    assert (await stub.GetMachine(pb.GetMachineRequest(machine_id=machine.machine_id))).machine.jobs_run == 2


async def test_metrics_say_what_the_machine_budget_never_pays_for_if_they_are_asked(
    bench: Bench, stub: VmPoolServiceAsyncStub
) -> None:
    bench.funding.left = Funds(1_990_000, 2_000_000)
    assert not (await stub.GetPoolMetrics(pb.GetPoolMetricsRequest())).never_paid
    told = (await stub.GetPoolMetrics(pb.GetPoolMetricsRequest(with_funds=True))).never_paid
    assert "$1.99 of the machine budget of $2.00 is left" in told["MI300X"]
    bench.funding.left = Funds(10**12, 10**12)
    assert not (await stub.GetPoolMetrics(pb.GetPoolMetricsRequest(with_funds=True))).never_paid


async def test_metrics_say_in_which_network_machines_reach_one_another(
    bench: Bench, stub: VmPoolServiceAsyncStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (await stub.GetPoolMetrics(pb.GetPoolMetricsRequest())).machine_network == ""
    monkeypatch.setattr(bench.settings, "machine_network", IPv4Network("10.128.0.0/20"))
    assert (await stub.GetPoolMetrics(pb.GetPoolMetricsRequest())).machine_network == "10.128.0.0/20"


@pytest.mark.parametrize(("hours", "longest"), [(12, timedelta(hours=11.5)), (0.25, timedelta(0))])
async def test_metrics_say_for_how_long_a_reservation_can_have_a_machine(
    bench: Bench, stub: VmPoolServiceAsyncStub, hours: float, longest: timedelta
) -> None:
    assert not (await stub.GetPoolMetrics(pb.GetPoolMetricsRequest())).HasField("longest_time")
    bench.provider.scope = Scope((1,), longest_life=timedelta(hours=hours), life_setting="VMPOOL_LIFE")
    metrics = await stub.GetPoolMetrics(pb.GetPoolMetricsRequest())
    assert (metrics.longest_time.ToTimedelta(), metrics.life_setting) == (longest, "VMPOOL_LIFE")
    assert metrics.HasField("longest_time")


async def test_a_machine_that_calls_itself_unfit_is_drained_with_its_reason(
    bench: Bench, stub: VmPoolServiceAsyncStub
) -> None:
    machine = await bench.warm_machine()
    bench.executors.unfit_reason = "its canary failed"
    bench.clock.advance(timedelta(minutes=1))
    await bench.passes(2)
    assert await bench.state_of(machine.machine_id) is MachineState.STOPPED
    (listed,) = (await stub.ListMachines(pb.ListMachinesRequest(include_ended=True))).machines
    assert listed.reason == "unfit: its canary failed"
