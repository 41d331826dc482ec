"""Leases of reservations over the RPCs, and what becomes of machines that have them."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from wavepool.executor.v1 import inventory_pb2
from wavepool.vmpool.v1 import vmpool_pb2 as pb

from services.vmpool.fault import Fault
from services.vmpool.machines.lease import Holder, Lease
from services.vmpool.machines.machine import MachineState
from services.vmpool.machines.offer import Offer
from services.vmpool.providers.provider import Observation, Order, ProviderState
from tests.refused_calls import refused
from tests.services.vmpool.conftest import ON_SQLITE, Bench, a_request
from tests.services.vmpool.test_service import acquire

if TYPE_CHECKING:
    from wavepool.vmpool.v1.vmpool_pb2_grpc import VmPoolServiceAsyncStub

HEARTBEAT = timedelta(seconds=2)
HOUR = timedelta(hours=1)
PART = pb.Placement(machine_id="m1", slots=[inventory_pb2.Slot(eighths=4)])


pytestmark = ON_SQLITE


def reserve(reservation_id: str = "res_1", duration: timedelta = 24 * HOUR, **changes: Any) -> pb.AcquireLeaseRequest:
    fields: dict[str, Any] = {
        "holder": pb.LEASE_HOLDER_RESERVATION,
        "duration": Duration(seconds=int(duration.total_seconds())),
        "machine_id": "m1",
    }
    return acquire(reservation_id, **(fields | changes))


async def reserved(stub: VmPoolServiceAsyncStub, *args: Any, **changes: Any) -> pb.Lease:
    return (await stub.AcquireLease(reserve(*args, **changes))).grants[0].lease


async def test_a_reservation_has_its_gpus_for_longer_than_a_job_may(bench: Bench, stub: VmPoolServiceAsyncStub) -> None:
    await bench.add_warm()
    grant = (await stub.AcquireLease(reserve(duration=50 * HOUR))).grants[0]
    assert grant.lease.holder == pb.LEASE_HOLDER_RESERVATION
    assert grant.lease.expire_time.ToDatetime(bench.clock.now().tzinfo) == bench.clock.now() + 50 * HOUR
    assert list(grant.machine.reservation_ids) == ["res_1"]
    again = await reserved(stub, duration=50 * HOUR)
    assert again == grant.lease


async def test_a_reservation_whose_lease_is_short_at_first_has_a_machine_that_lasts_as_long_as_it(
    bench: Bench, stub: VmPoolServiceAsyncStub
) -> None:
    await an_ending_machine(bench, "m1", 10 * HOUR)
    short = reserve(duration=HOUR, longest_time=Duration(seconds=11 * 3600))
    await refused(stub.AcquireLease(short), grpc.StatusCode.INVALID_ARGUMENT)
    lease = await reserved(stub, duration=HOUR, longest_time=Duration(seconds=9 * 3600))
    assert lease.expire_time.ToDatetime(bench.clock.now().tzinfo) == bench.clock.now() + HOUR
    renewed = await stub.RenewLease(pb.RenewLeaseRequest(lease_id=lease.lease_id, duration=Duration(seconds=9 * 3600)))
    assert renewed.expire_time.ToDatetime(bench.clock.now().tzinfo) == bench.clock.now() + 9 * HOUR


async def test_a_machine_lists_its_reservations_in_the_order_of_their_leases_and_jobs_not_at_all(
    bench: Bench, stub: VmPoolServiceAsyncStub
) -> None:
    await bench.add_warm(gpu_count=4)
    leases = [await reserved(stub, f"res_{letter}") for letter in "bac"]
    await stub.AcquireLease(acquire("job", machine_id="m1"))
    await stub.ReleaseLease(pb.ReleaseLeaseRequest(lease_id=leases[1].lease_id))
    [machine] = (await stub.ListMachines(pb.ListMachinesRequest())).machines
    assert list(machine.reservation_ids) == ["res_b", "res_c"]
    events = stub.WatchMachines(pb.WatchMachinesRequest(machine_id="m1"))
    seen = [list((await anext(aiter(events))).event.machine.reservation_ids) for _ in range(4)]
    events.cancel()
    assert seen == [[], ["res_b"], ["res_b", "res_a"], ["res_b", "res_a", "res_c"]]


@pytest.mark.parametrize(
    ("changes", "field", "said"),
    [
        ({"eighths": 4}, "eighths", ""),
        ({"machine_id": "", "eighths": 0, "placements": [PART]}, "placements.slots.eighths", ""),
        ({"duration": 51 * HOUR}, "duration", "180000 s (VMPOOL_LONGEST_RESERVATION); it is 183600 s"),
        ({"longest_time": Duration(seconds=51 * 3600)}, "longest_time", "180000 s"),
        ({"holder": pb.LEASE_HOLDER_JOB}, "duration", ""),
        ({"holder": 7}, "holder", ""),
    ],
    ids=["a part", "a part that is named", "too long", "too long later", "too long for a job", "an unknown holder"],
)
async def test_what_no_reservation_may_have_is_refused_with_the_field(
    bench: Bench, stub: VmPoolServiceAsyncStub, changes: dict[str, Any], field: str, said: str
) -> None:
    machine = await bench.add_warm()
    await refused(stub.AcquireLease(reserve(**changes)), grpc.StatusCode.INVALID_ARGUMENT, said, field=field)
    assert await bench.machines.get("m1") == machine


@pytest.mark.parametrize("holder", [pb.LEASE_HOLDER_UNSPECIFIED, pb.LEASE_HOLDER_JOB])
async def test_the_lease_of_a_job_is_not_that_of_a_reservation_with_its_id(
    bench: Bench, stub: VmPoolServiceAsyncStub, holder: pb.LeaseHolder
) -> None:
    await bench.add_warm()
    lease = (await stub.AcquireLease(acquire("one", holder=holder))).grants[0].lease
    assert lease.holder == pb.LEASE_HOLDER_JOB
    await refused(stub.AcquireLease(reserve("one")), grpc.StatusCode.ALREADY_EXISTS)
    assert (await bench.machines.get("m1")).reservation_ids == ()


async def test_a_renewal_is_limited_as_the_lease_is_and_never_ends_it_earlier(
    bench: Bench, stub: VmPoolServiceAsyncStub
) -> None:
    await bench.add_warm(gpu_count=2)
    reservation = await reserved(stub, duration=24 * HOUR)
    job = (await stub.AcquireLease(acquire(machine_id="m1"))).grants[0].lease

    async def renewed(lease: pb.Lease, hours: int) -> timedelta:
        request = pb.RenewLeaseRequest(lease_id=lease.lease_id, duration=Duration(seconds=hours * 3600))
        until = (await stub.RenewLease(request)).expire_time
        return until.ToDatetime(bench.clock.now().tzinfo) - bench.clock.now()

    assert [await renewed(reservation, hours) for hours in (1, 48)] == [24 * HOUR, 48 * HOUR]
    assert await renewed(job, 1) == HOUR
    for lease, hours in ((reservation, 51), (job, 2)):
        await refused(renewed(lease, hours), grpc.StatusCode.INVALID_ARGUMENT, field="duration")


async def a_reserved_machine(bench: Bench, **changes: Any) -> Lease:
    """The lease of a reservation of a machine that the provider has."""
    await bench.warm_machine()
    fields: dict[str, Any] = {"holder": Holder.RESERVATION, "duration": HOUR}
    taken = await bench.lease("res_1", **(fields | changes))
    await bench.passes()
    return taken


async def silence(bench: Bench, duration: timedelta) -> None:
    bench.executors.silent = True
    for _ in range(int(duration / HEARTBEAT)):
        bench.clock.advance(HEARTBEAT)
        await bench.passes()


async def test_a_reserved_machine_may_be_silent_for_ten_minutes(bench: Bench) -> None:
    lease = await a_reserved_machine(bench)
    await silence(bench, timedelta(minutes=10) - HEARTBEAT)
    assert await bench.state_of(lease.machine_id) is MachineState.BUSY
    await silence(bench, HEARTBEAT)
    assert await bench.state_of(lease.machine_id) is MachineState.LOST
    lost = await bench.machines.get(lease.machine_id)
    assert (lost.fault, lost.reservation_ids) == (Fault.UNREACHABLE, ())


async def test_a_machine_that_answers_again_begins_its_silence_anew(bench: Bench) -> None:
    lease = await a_reserved_machine(bench)
    for _ in range(3):
        await silence(bench, timedelta(minutes=9))
        bench.executors.silent = False
        bench.clock.advance(HEARTBEAT)
        await bench.passes()
    assert await bench.state_of(lease.machine_id) is MachineState.BUSY


async def test_a_silent_machine_is_lost_at_once_when_its_reservation_is_over(bench: Bench) -> None:
    lease = await a_reserved_machine(bench)
    await silence(bench, timedelta(minutes=5))
    await bench.leases.release(lease.lease_id, "done")
    await silence(bench, HEARTBEAT)
    assert await bench.state_of(lease.machine_id) is MachineState.LOST


@pytest.mark.parametrize("state", [ProviderState.ENDED, ProviderState.GONE])
async def test_the_providers_word_that_a_reserved_machine_ended_counts_at_once(
    bench: Bench, state: ProviderState
) -> None:
    lease = await a_reserved_machine(bench)
    bench.provider.observations[lease.machine_id] = Observation(state, reason="taken away")
    bench.executors.silent = True
    await bench.passes()
    assert await bench.state_of(lease.machine_id) is MachineState.LOST


async def test_a_reserved_machine_neither_idles_out_nor_gives_way(bench: Bench) -> None:
    lease = await a_reserved_machine(bench, duration=24 * HOUR)
    for _ in range(12):
        bench.clock.advance(HOUR)
        await bench.demand("MI210", jobs=4)
        await bench.passes(2)
    assert await bench.state_of(lease.machine_id) is MachineState.BUSY
    assert lease.machine_id in {machine.machine_id for machine in await bench.machines.unreleased()}


async def test_an_expired_reservation_keeps_its_slots_until_nothing_is_in_flight(bench: Bench) -> None:
    """Another lease of the machine stands without a run, and only the executor knows whose session it is."""
    await bench.add_warm(gpu_count=2)
    bench.provider.machines["m1"] = Order("m1", "MI300X", 2, "secret")
    for job_id, duration in (("res_1", HOUR), ("res_2", 24 * HOUR)):
        await bench.leases.acquire(a_request(job_id, holder=Holder.RESERVATION, duration=duration))
    bench.executors.runs_in_flight = 1
    for _ in range(3):
        bench.clock.advance(HOUR)
        await bench.passes(2)
    machine = await bench.machines.get("m1")
    assert (machine.state, machine.reservation_ids) == (MachineState.BUSY, ("res_1", "res_2"))
    bench.executors.runs_in_flight = 0
    bench.clock.advance(HEARTBEAT)
    await bench.passes()
    machine = await bench.machines.get("m1")
    assert (machine.state, machine.reservation_ids) == (MachineState.BUSY, ("res_2",))


@pytest.mark.parametrize("verb", ["Drain", "Stop"])
async def test_a_machine_with_reservations_is_ended_only_by_force(
    bench: Bench, stub: VmPoolServiceAsyncStub, verb: str
) -> None:
    lease = await a_reserved_machine(bench)
    before = await bench.machines.get(lease.machine_id)
    call, request = getattr(stub, f"{verb}Machine"), getattr(pb, f"{verb}MachineRequest")
    await refused(
        call(request(machine_id=lease.machine_id)),
        grpc.StatusCode.FAILED_PRECONDITION,
        "has the reservations res_1. Wait for their end, or use `force`.",
    )
    assert await bench.machines.get(lease.machine_id) == before
    ended = (await call(request(machine_id=lease.machine_id, force=True))).machine
    assert ended.state == pb.MACHINE_STATE_DRAINING
    assert list(ended.reservation_ids) == (["res_1"] if verb == "Drain" else [])


async def test_a_draining_machine_with_reservations_is_still_stopped_only_by_force(
    bench: Bench, stub: VmPoolServiceAsyncStub
) -> None:
    lease = await a_reserved_machine(bench)
    for _ in range(2):
        await stub.DrainMachine(pb.DrainMachineRequest(machine_id=lease.machine_id, force=True))
        await bench.passes(2)
    await refused(
        stub.StopMachine(pb.StopMachineRequest(machine_id=lease.machine_id)), grpc.StatusCode.FAILED_PRECONDITION
    )
    again = (await stub.DrainMachine(pb.DrainMachineRequest(machine_id=lease.machine_id))).machine
    assert list(again.reservation_ids) == ["res_1"]
    renewed = await stub.RenewLease(pb.RenewLeaseRequest(lease_id=lease.lease_id))
    assert renewed.expire_time.ToDatetime(bench.clock.now().tzinfo) == lease.expire_time


async def test_an_unfit_machine_drains_though_it_is_reserved_and_its_reservation_goes_on(bench: Bench) -> None:
    lease = await a_reserved_machine(bench)
    bench.executors.unfit_reason = "a GPU hangs"
    bench.clock.advance(HEARTBEAT)
    await bench.passes(3)
    machine = await bench.machines.get(lease.machine_id)
    assert (machine.state, machine.reservation_ids) == (MachineState.DRAINING, ("res_1",))


async def an_ending_machine(bench: Bench, machine_id: str, life: timedelta) -> None:
    await bench.add_warm(machine_id, provider="dstack", max_duration=life)


@pytest.mark.parametrize("named", [True, False])
async def test_a_machine_that_ends_before_the_reservation_is_refused_with_the_setting(
    bench: Bench, stub: VmPoolServiceAsyncStub, named: bool
) -> None:
    await an_ending_machine(bench, "m1", 12 * HOUR)
    await reserved(stub, "res_0", 12 * HOUR)
    await an_ending_machine(bench, "m2", 12 * HOUR)
    places = [pb.Placement(machine_id="m2", slots=[inventory_pb2.Slot(eighths=8)])]
    where = {"machine_id": "m2"} if named else {"machine_id": "", "eighths": 0, "placements": places}
    await refused(
        stub.AcquireLease(reserve("res_1", 12 * HOUR + HEARTBEAT, **where)),
        grpc.StatusCode.INVALID_ARGUMENT,
        "longest life of 43200 s",
        "VMPOOL_DSTACK_MAX_DURATION) 2 s before the end of the reservation",
        field="duration",
    )
    assert (await bench.machines.get("m2")).reservation_ids == ()


async def test_the_pool_picks_a_machine_that_lasts(bench: Bench, stub: VmPoolServiceAsyncStub) -> None:
    await an_ending_machine(bench, "m2", 48 * HOUR)
    bench.clock.advance(HEARTBEAT)
    await an_ending_machine(bench, "m1", 12 * HOUR)
    assert (await reserved(stub, "res_1", 24 * HOUR, machine_id="")).machine_id == "m2"
    await refused(stub.AcquireLease(reserve("res_2", 24 * HOUR, machine_id="")), grpc.StatusCode.RESOURCE_EXHAUSTED)


async def test_a_reservation_is_not_extended_beyond_the_life_of_its_machine(
    bench: Bench, stub: VmPoolServiceAsyncStub
) -> None:
    await an_ending_machine(bench, "m1", 12 * HOUR)
    lease = await reserved(stub, "res_1", HOUR)
    longer = pb.RenewLeaseRequest(lease_id=lease.lease_id, duration=Duration(seconds=43_200))
    assert (await stub.RenewLease(longer)).expire_time.seconds == int(bench.clock.now().timestamp()) + 43_200
    bench.clock.advance(HEARTBEAT)
    await refused(stub.RenewLease(longer), grpc.StatusCode.INVALID_ARGUMENT, field="duration")
    shorter = pb.RenewLeaseRequest(lease_id=lease.lease_id, duration=Duration(seconds=60))
    assert (await stub.RenewLease(shorter)).expire_time.seconds == int(bench.clock.now().timestamp()) + 43_198


async def test_a_machine_is_ordered_with_the_longest_life_of_its_offer(bench: Bench) -> None:
    bench.provider.offered = [Offer("scripted", "MI300X", 1, 0, longest_life=12 * HOUR, life_setting="A_SETTING")]
    machine = await bench.warm_machine()
    assert machine.max_duration == bench.provider.machines[machine.machine_id].max_duration == 12 * HOUR


async def test_what_reservations_wait_for_is_reported_with_their_length(
    bench: Bench, stub: VmPoolServiceAsyncStub
) -> None:
    bench.provider.offered = [Offer("scripted", "MI300X", 1, 0, longest_life=12 * HOUR, life_setting="A_SETTING")]
    day = Duration(seconds=86_400)
    demand = pb.Demand(gpu_type="MI300X", eighths=8, jobs=1, longest_time=day)
    answer = await stub.ReportDemand(pb.ReportDemandRequest(demands=[demand]))
    [blocked] = answer.blocked_demands
    assert (blocked.longest_time, "at most (A_SETTING)" in blocked.reason) == (day, True)
    await refused(stub.AcquireLease(reserve(machine_id="")), "at most (A_SETTING)")
    assert bench.provider.provisioned == []
    demand.longest_time.FromSeconds(-1)
    await refused(stub.ReportDemand(pb.ReportDemandRequest(demands=[demand])), field="demands.longest_time")
