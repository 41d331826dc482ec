from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import update

from services.vmpool.errors import LeaseConflictError, LeaseEndedError, MachineNotFoundError
from services.vmpool.fault import Fault
from services.vmpool.machines.lease import LeaseState
from services.vmpool.machines.machine import MachineState
from services.vmpool.store.tables import machines
from tests.services.vmpool.conftest import Bench, a_machine, a_request


@pytest.mark.parametrize("eighths", [1, 8])
async def test_racing_jobs_get_each_slot_once(bench: Bench, eighths: int) -> None:
    await bench.add_warm()
    requests = [a_request(f"job-{number}", eighths=eighths) for number in range(12)]
    outcomes = await asyncio.gather(*(bench.leases.acquire(request) for request in requests))
    leases = [outcome[0] for outcome in outcomes if outcome is not None]
    assert len(leases) == 8 // eighths
    assert len({lease.slots for lease in leases}) == len(leases)
    assert sorted(lease.fencing_token for lease in leases) == list(range(1, len(leases) + 1))


async def test_racing_repeats_of_one_request_make_one_lease(bench: Bench) -> None:
    await bench.add_warm()
    outcomes = await asyncio.gather(*(bench.leases.acquire(a_request(eighths=1)) for _ in range(6)))
    assert len({outcome[0].lease_id for outcome in outcomes if outcome}) == 1
    assert (await bench.machines.get("m1")).occupied == (1,)


async def test_a_repeated_request_with_other_content_is_refused(bench: Bench) -> None:
    await bench.add_warm()
    await bench.lease(eighths=4)
    with pytest.raises(LeaseConflictError):
        await bench.leases.acquire(a_request(eighths=2))


async def test_an_expired_lease_is_not_given_again_while_its_run_may_live(bench: Bench) -> None:
    await bench.add_warm()
    await bench.lease()
    bench.clock.advance(timedelta(seconds=61))
    with pytest.raises(LeaseConflictError):
        await bench.leases.acquire(a_request())
    assert [lease.state for lease in await bench.leases.expire_due()] == [LeaseState.EXPIRED]
    with pytest.raises(LeaseConflictError):
        await bench.leases.acquire(a_request())
    assert await bench.leases.acquire(a_request("other")) is None


async def test_the_most_recently_used_machine_is_taken_first(bench: Bench) -> None:
    for machine_id in ("m1", "m2", "m3"):
        await bench.add_warm(machine_id)
        bench.clock.advance(timedelta(seconds=1))
    lease = (await bench.leases.acquire(a_request(machine_id="m2")) or [None])[0]
    assert lease is not None
    await bench.leases.release(lease.lease_id, "done")
    assert [(await bench.lease(f"job-{n}")).machine_id for n in range(3)] == ["m2", "m3", "m1"]


async def test_another_gpu_type_or_a_machine_that_is_not_ready_does_not_fit(bench: Bench) -> None:
    await bench.add_warm("m1", gpu_type="MI210")
    await bench.machines.add(a_machine(machine_id="m2"), "test")
    assert await bench.leases.acquire(a_request()) is None
    assert await bench.leases.acquire(a_request(machine_id="m1")) is None
    with pytest.raises(MachineNotFoundError):
        await bench.leases.acquire(a_request(machine_id="m9"))


async def test_several_gpus_hold_several_whole_leases(bench: Bench) -> None:
    await bench.add_warm(gpu_count=2)
    gpus = {(await bench.lease(f"job-{n}")).slots[0].gpu for n in range(2)}
    assert gpus == {0, 1}
    assert await bench.leases.acquire(a_request("third", eighths=1)) is None


async def test_releasing_twice_changes_nothing(bench: Bench) -> None:
    await bench.add_warm()
    lease = await bench.lease()
    await bench.leases.release(lease.lease_id, "done")
    machine = await bench.machines.get("m1")
    await bench.leases.release(lease.lease_id, "done")
    assert await bench.machines.get("m1") == machine
    assert (machine.state, machine.jobs_run) == (MachineState.WARM, 1)


async def test_fencing_tokens_grow_over_releases(bench: Bench) -> None:
    await bench.add_warm()
    tokens: list[int] = []
    for attempt in range(3):
        lease = await bench.lease(attempt=attempt)
        tokens.append(lease.fencing_token)
        await bench.leases.release(lease.lease_id, "done")
    assert tokens == [1, 2, 3]


async def test_a_suspect_machine_is_drained(bench: Bench) -> None:
    await bench.add_warm()
    lease = await bench.lease()
    await bench.leases.release(lease.lease_id, "it gave no answer", drain_machine=True)
    machine = await bench.machines.get("m1")
    assert (machine.state, machine.reason) == (MachineState.DRAINING, "suspect: it gave no answer")


async def test_renewing_moves_the_expiry_until_the_lease_is_over(bench: Bench) -> None:
    await bench.add_warm()
    lease = await bench.lease()
    bench.clock.advance(timedelta(seconds=50))
    renewed = await bench.leases.renew(lease.lease_id, timedelta(seconds=60))
    assert renewed.expire_time == bench.clock.now() + timedelta(seconds=60)
    await bench.leases.release(lease.lease_id, "done")
    with pytest.raises(LeaseEndedError, match="done"):
        await bench.leases.renew(lease.lease_id, timedelta(seconds=60))


async def test_leases_end_with_their_machine(bench: Bench) -> None:
    machine = await bench.add_warm()
    lease = await bench.lease()
    machine = await bench.machines.get("m1")
    await bench.machines.change(machine, machine.lose(bench.clock.now(), "silent", Fault.UNREACHABLE))
    with pytest.raises(LeaseEndedError, match="its machine is lost: silent"):
        await bench.leases.renew(lease.lease_id, timedelta(seconds=60))
    await bench.leases.release(lease.lease_id, "done")
    assert await bench.leases.standing_on("m1") == []


async def test_the_database_itself_refuses_a_slot_that_is_taken(bench: Bench) -> None:
    """Even if the occupancy were wrong, the unique index would keep two jobs apart."""
    await bench.add_warm()
    await bench.lease()
    async with bench.database.transaction() as connection:
        await connection.execute(update(machines).values(occupied="[0]"))
    with pytest.raises(Exception, match=r"(?i)unique"):
        await bench.leases.acquire(replace(a_request("other"), eighths=8))


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
async def test_while_no_lease_is_due_nobody_who_writes_is_waited_for(bench: Bench) -> None:
    await bench.add_warm()
    await bench.lease()
    async with bench.database.transaction():
        assert await bench.leases.expire_due() == []
    bench.clock.advance(timedelta(seconds=60))
    assert [lease.state for lease in await bench.leases.expire_due()] == [LeaseState.EXPIRED]


async def test_a_restored_pool_has_no_leases_and_its_next_ones_are_newer_than_any_that_machines_have_seen(
    bench: Bench,
) -> None:
    await bench.add_warm(gpu_count=2)
    before, expired = await bench.lease("job-1"), await bench.lease("job-2")
    await bench.leases.renew(before.lease_id, timedelta(days=2))
    bench.clock.advance(timedelta(days=1))
    assert [lease.lease_id for lease in await bench.leases.expire_due()] == [expired.lease_id]
    assert await bench.leases.restored() == 1
    assert {(await bench.leases.get(one.lease_id)).state for one in (before, expired)} == {LeaseState.ENDED}
    assert (await bench.machines.get("m1")).state is MachineState.WARM
    lost_tokens = 1_000_000
    assert (await bench.lease("job-3")).fencing_token > before.fencing_token + lost_tokens
