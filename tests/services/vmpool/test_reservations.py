"""Leases of reservations, over the RPCs."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from wavepool.executor.v1 import inventory_pb2
from wavepool.vmpool.v1 import vmpool_pb2 as pb

from tests.services.vmpool.grpc_failures import failure
from tests.services.vmpool.store.test_lease_store import add_warm
from tests.services.vmpool.test_service import acquire

if TYPE_CHECKING:
    from pathlib import Path

    from wavepool.vmpool.v1.vmpool_pb2_grpc import VmPoolServiceAsyncStub

    from tests.services.vmpool.conftest import Bench

HOUR = timedelta(hours=1)
PART = pb.Placement(machine_id="m1", slots=[inventory_pb2.Slot(eighths=4)])


@pytest.fixture
def database_url(tmp_path: Path) -> str:
    """One kind of database is enough here: the tests of the stores cover the differences."""
    return f"sqlite+aiosqlite:///{tmp_path / 'vmpool.db'}"


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
    await add_warm(bench)
    grant = (await stub.AcquireLease(reserve(duration=50 * HOUR))).grants[0]
    assert grant.lease.holder == pb.LEASE_HOLDER_RESERVATION
    assert grant.lease.expire_time.ToDatetime(bench.clock.now().tzinfo) == bench.clock.now() + 50 * HOUR
    assert list(grant.machine.reservation_ids) == ["res_1"]
    again = await reserved(stub, duration=50 * HOUR)
    assert again == grant.lease


async def test_a_machine_lists_its_reservations_in_the_order_of_their_leases_and_jobs_not_at_all(
    bench: Bench, stub: VmPoolServiceAsyncStub
) -> None:
    await add_warm(bench, gpu_count=4)
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
    ("changes", "field"),
    [
        ({"eighths": 4}, "eighths"),
        ({"machine_id": "", "eighths": 0, "placements": [PART]}, "placements.slots.eighths"),
        ({"duration": 51 * HOUR}, "duration"),
        ({"holder": pb.LEASE_HOLDER_JOB}, "duration"),
        ({"holder": 7}, "holder"),
    ],
    ids=["a part", "a part that is named", "too long", "too long for a job", "an unknown holder"],
)
async def test_what_no_reservation_may_have_is_refused_with_the_field(
    bench: Bench, stub: VmPoolServiceAsyncStub, changes: dict[str, Any], field: str
) -> None:
    machine = await add_warm(bench)
    refused = await failure(stub.AcquireLease(reserve(**changes)))
    assert (refused.code, refused.violations[0][0]) == (grpc.StatusCode.INVALID_ARGUMENT, field)
    assert await bench.machines.get("m1") == machine


async def test_too_long_a_reservation_is_refused_with_the_name_of_the_setting(
    bench: Bench, stub: VmPoolServiceAsyncStub
) -> None:
    await add_warm(bench)
    refused = await failure(stub.AcquireLease(reserve(duration=51 * HOUR)))
    assert "at most 180000 s (VMPOOL_LONGEST_RESERVATION); it is 183600 s" in refused.message


@pytest.mark.parametrize("holder", [pb.LEASE_HOLDER_UNSPECIFIED, pb.LEASE_HOLDER_JOB])
async def test_the_lease_of_a_job_is_not_that_of_a_reservation_with_its_id(
    bench: Bench, stub: VmPoolServiceAsyncStub, holder: pb.LeaseHolder
) -> None:
    await add_warm(bench)
    lease = (await stub.AcquireLease(acquire("one", holder=holder))).grants[0].lease
    assert lease.holder == pb.LEASE_HOLDER_JOB
    refused = await failure(stub.AcquireLease(reserve("one")))
    assert refused.code is grpc.StatusCode.ALREADY_EXISTS
    assert (await bench.machines.get("m1")).reservation_ids == ()


async def test_a_renewal_is_limited_as_the_lease_is_and_never_ends_it_earlier(
    bench: Bench, stub: VmPoolServiceAsyncStub
) -> None:
    await add_warm(bench, gpu_count=2)
    reservation = await reserved(stub, duration=24 * HOUR)
    job = (await stub.AcquireLease(acquire(machine_id="m1"))).grants[0].lease

    async def renewed(lease: pb.Lease, hours: int) -> timedelta:
        request = pb.RenewLeaseRequest(lease_id=lease.lease_id, duration=Duration(seconds=hours * 3600))
        until = (await stub.RenewLease(request)).expire_time
        return until.ToDatetime(bench.clock.now().tzinfo) - bench.clock.now()

    assert [await renewed(reservation, hours) for hours in (1, 48)] == [24 * HOUR, 48 * HOUR]
    assert await renewed(job, 1) == HOUR
    for lease, hours in ((reservation, 51), (job, 2)):
        refused = await failure(renewed(lease, hours))
        assert (refused.code, refused.violations[0][0]) == (grpc.StatusCode.INVALID_ARGUMENT, "duration")
