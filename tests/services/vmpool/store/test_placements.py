"""Leases of exactly the slots that the caller names, on one machine or, as a gang, on several."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import update
from sqlalchemy.exc import IntegrityError

from services.vmpool.errors import (
    InvalidFieldError,
    LeaseConflictError,
    LeaseEndedError,
    MachineNotFoundError,
    MachineNotReadyError,
    PoolError,
    SlotTakenError,
)
from services.vmpool.fault import Fault
from services.vmpool.machines.lease import Lease, LeaseState, PlacedRequest, Placement
from services.vmpool.machines.machine import Halt, Machine, MachineState
from services.vmpool.store.tables import machines
from tests.services.vmpool.conftest import Bench, a_machine, a_request
from vocabulary.slots import Slot, free_masks, taken

MINUTE = timedelta(minutes=1)


def gpus(machine_id: str, *numbers: int) -> Placement:
    return Placement(machine_id, tuple(Slot(number, 0, 8) for number in numbers))


def placed(job_id: str, *placements: Placement, attempt: int = 1) -> PlacedRequest:
    return PlacedRequest(job_id, attempt, "MI300X", placements, MINUTE)


GANG = placed("gang", gpus("m1", 0, 1), gpus("m2", 1))


async def place(bench: Bench, request: PlacedRequest = GANG) -> list[Lease]:
    return [lease for lease, _ in await bench.leases.place(request)]


async def add_two(bench: Bench) -> None:
    for machine_id in ("m1", "m2"):
        await bench.add_warm(machine_id, gpu_count=2)


async def present(bench: Bench) -> Sequence[Machine]:
    return sorted(await bench.machines.all(include_ended=True), key=lambda machine: machine.machine_id)


async def standing(bench: Bench, machine_id: str) -> list[LeaseState]:
    return [lease.state for lease in await bench.leases.standing_on(machine_id)]


async def test_a_lease_takes_exactly_the_slots_that_are_named(bench: Bench) -> None:
    await bench.add_warm(gpu_count=4)
    (half,) = await place(bench, placed("half", Placement("m1", (Slot(2, 4, 4),))))
    (pair,) = await place(bench, placed("pair", gpus("m1", 1, 3)))
    machine = await bench.machines.get("m1")
    assert machine.occupied == (0, 255, 0b11110000, 255)
    assert (half.slots, pair.slots) == ((Slot(2, 4, 4),), gpus("m1", 1, 3).slots)
    stored = await bench.leases.standing_on("m1")
    assert sorted(stored, key=lambda lease: lease.fencing_token) == [half, pair]
    assert (half.fencing_token, pair.fencing_token, pair.size, pair.gang_id) == (1, 2, 16, "")
    await bench.leases.release(pair.lease_id, "done")
    assert free_masks((await bench.machines.get("m1")).occupied) == (255, 255, 0b1111, 255)


async def test_the_pool_picks_several_gpus_of_one_machine(bench: Bench) -> None:
    await bench.add_warm("m1", gpu_count=2)
    await bench.add_warm("m2", gpu_count=4)
    lease, machine = await bench.leases.acquire(a_request(eighths=32)) or (None, None)
    assert lease is not None
    assert machine is not None
    assert (machine.machine_id, machine.occupied) == ("m2", (255,) * 4)
    assert await bench.leases.acquire(a_request("more", eighths=32)) is None
    assert await bench.leases.acquire(a_request("other", eighths=16)) is not None


async def test_a_gang_has_one_lease_for_each_machine(bench: Bench) -> None:
    await add_two(bench)
    first, second = await place(bench)
    assert first.gang_id == second.gang_id != ""
    assert (first.machine_id, first.slots, second.machine_id, second.slots) == (
        *("m1", gpus("m1", 0, 1).slots),
        *("m2", gpus("m2", 1).slots),
    )
    assert first.expire_time == second.expire_time
    assert [machine.occupied for machine in await present(bench)] == [(255, 255), (0, 255)]


@pytest.mark.parametrize(
    ("placements", "kind", "words"),
    [
        ((gpus("m1", 0), gpus("m9", 0)), MachineNotFoundError, "no machine 'm9'"),
        ((gpus("m1", 0), gpus("m2", 0)), SlotTakenError, "GPU 0 of machine 'm2'"),
        ((gpus("m1", 0), gpus("m2", 2)), InvalidFieldError, "m2 has the GPUs 0 to 1; it is 2"),
        ((gpus("m1", 0), gpus("m2", 0, 1, 2, 3)), InvalidFieldError, "m2 has the GPUs 0 to 1; it is 3"),
        ((gpus("m1", 0), gpus("m3", 0)), InvalidFieldError, "m3 is a MI210, and the job runs on MI300X"),
        ((gpus("m1", 0), gpus("m4", 0)), MachineNotReadyError, "'m4' is requested"),
        ((gpus("m1", 0), gpus("m5", 0)), MachineNotReadyError, "'m5' is draining"),
    ],
)
async def test_if_one_machine_cannot_give_its_slots_none_gives_any(
    bench: Bench, placements: tuple[Placement, ...], kind: type[PoolError], words: str
) -> None:
    await add_two(bench)
    await place(bench, placed("other", Placement("m2", (Slot(0, 4, 1),))))
    await bench.add_warm("m3", gpu_type="MI210")
    await bench.machines.add(a_machine(machine_id="m4"), "test")
    await bench.add_warm("m5")
    await bench.machines.drain("m5", "asked")
    before = await present(bench)
    with pytest.raises(kind, match=words):
        await place(bench, placed("gang", *placements))
    assert await present(bench) == before
    assert await standing(bench, "m1") == []
    assert await place(bench, placed("gang", gpus("m1", 0))), "nothing of the attempt is left"


async def test_a_fallback_type_will_do_for_a_placement(bench: Bench) -> None:
    await bench.add_warm("m1", gpu_type="MI210")
    (lease,) = await place(bench, replace(placed("job", gpus("m1", 0)), fallback_gpu_types=("MI210",)))
    assert lease.gpu_type == "MI210"


async def test_a_repeated_request_gets_the_leases_of_the_first(bench: Bench) -> None:
    await add_two(bench)
    outcomes = await asyncio.gather(*(place(bench) for _ in range(6)))
    assert all(outcome == outcomes[0] for outcome in outcomes)
    assert [await standing(bench, name) for name in ("m1", "m2")] == [[LeaseState.ACTIVE]] * 2
    for other in (
        placed("gang", gpus("m1", 0, 1)),
        placed("gang", gpus("m1", 0, 1), gpus("m2", 0)),
        placed("gang", gpus("m2", 1), gpus("m1", 0, 1)),
        a_request("gang", eighths=16),
    ):
        with pytest.raises(LeaseConflictError):
            await (bench.leases.acquire(other) if not isinstance(other, PlacedRequest) else bench.leases.place(other))


async def test_of_gangs_that_race_for_the_same_machines_one_gets_them_all(bench: Bench) -> None:
    await add_two(bench)
    requests = [placed(f"job-{n}", *(gpus("m1", 0, 1), gpus("m2", 0, 1))[:: 1 if n % 2 else -1]) for n in range(8)]
    outcomes = await asyncio.gather(*(place(bench, request) for request in requests), return_exceptions=True)
    won = [outcome for outcome in outcomes if not isinstance(outcome, BaseException)]
    assert [len(leases) for leases in won] == [2]
    assert [type(outcome) for outcome in outcomes if isinstance(outcome, BaseException)] == [SlotTakenError] * 7


async def test_racing_leases_of_all_sizes_get_each_slot_once(bench: Bench) -> None:
    await bench.add_warm("m1", gpu_count=4)
    await bench.add_warm("m2", gpu_count=2)
    named = [placed(f"named-{n}", gpus("m1", n % 4), gpus("m2", n % 2)) for n in range(6)]
    picked = [a_request(f"picked-{n}", eighths=(16, 8, 4, 32)[n % 4]) for n in range(12)]
    outcomes = await asyncio.gather(
        *(bench.leases.place(request) for request in named),
        *(bench.leases.acquire(request) for request in picked),
        return_exceptions=True,
    )
    assert {type(outcome) for outcome in outcomes if isinstance(outcome, BaseException)} <= {SlotTakenError}
    for machine in await present(bench):
        occupied: tuple[int, ...] = (0,) * machine.gpu_count
        leases = await bench.leases.standing_on(machine.machine_id)
        for lease in leases:
            # Raises if a slot is given twice.
            occupied = taken(occupied, lease.slots)
        assert occupied == machine.occupied
        assert sorted(lease.fencing_token for lease in leases) == list(range(1, machine.fencing_token + 1))


async def test_a_gang_is_renewed_as_one(bench: Bench) -> None:
    await add_two(bench)
    first, second = await place(bench)
    bench.clock.advance(MINUTE / 2)
    await bench.leases.renew(second.lease_id, MINUTE)
    ((of_first,), (of_second,)) = [await bench.leases.standing_on(name) for name in ("m1", "m2")]
    assert of_first.lease_id == first.lease_id
    assert of_first.expire_time == of_second.expire_time == bench.clock.now() + MINUTE


async def test_a_gang_expires_as_one(bench: Bench) -> None:
    await add_two(bench)
    leases = await place(bench)
    bench.clock.advance(MINUTE)
    assert {lease.lease_id for lease in await bench.leases.expire_due()} == {lease.lease_id for lease in leases}
    for lease in leases:
        with pytest.raises(LeaseEndedError, match="expired"):
            await bench.leases.renew(lease.lease_id, MINUTE)


async def test_when_one_lease_of_a_gang_is_released_the_others_expire_and_keep_their_slots(bench: Bench) -> None:
    await add_two(bench)
    await bench.add_warm("m3")
    alone = await place(bench, placed("alone", Placement("m3", (Slot(0, 0, 4),))))
    first, second = await place(bench)
    await bench.leases.release(second.lease_id, "done")
    assert [machine.occupied for machine in await present(bench)] == [(255, 255), (0, 0), (0b1111,)]
    assert await standing(bench, "m1") == [LeaseState.EXPIRED]
    with pytest.raises(LeaseEndedError, match=f"lease {second.lease_id} of its gang, on machine m2, is over: done"):
        await bench.leases.renew(first.lease_id, MINUTE)
    with pytest.raises(LeaseConflictError):
        await place(bench)
    await bench.leases.renew(alone[0].lease_id, MINUTE)
    await bench.leases.release(first.lease_id, "done too", drain_machine=True)
    assert [machine.occupied for machine in await present(bench)][:2] == [(0, 0), (0, 0)]
    assert await bench.state_of("m1") is MachineState.DRAINING
    assert await standing(bench, "m3") == [LeaseState.ACTIVE]


@pytest.mark.parametrize("way", ["lost", "stopped"])
async def test_when_one_machine_of_a_gang_ends_the_others_leases_expire(bench: Bench, way: str) -> None:
    await add_two(bench)
    first, second = await place(bench)
    machine = await bench.machines.get("m1")
    if way == "lost":
        await bench.machines.change(machine, machine.lose(bench.clock.now(), "silent", Fault.UNREACHABLE))
    else:
        await bench.machines.halt("m1", Halt("it burns"))
    assert (await standing(bench, "m1"), await standing(bench, "m2")) == ([], [LeaseState.EXPIRED])
    with pytest.raises(LeaseEndedError, match="of its gang, on machine m1, is over: its machine is"):
        await bench.leases.renew(second.lease_id, MINUTE)
    await bench.leases.release(first.lease_id, "over")
    await bench.leases.release(second.lease_id, "over")
    assert (await bench.machines.get("m2")).occupied == (0, 0)


async def test_the_slots_of_a_broken_gang_come_free_once_its_executor_can_begin_no_run_of_it(bench: Bench) -> None:
    """Before its time of expiry, the executor would still begin a run under the lease."""
    await bench.warm_machine()
    (machine,) = await bench.machines.unreleased()
    await bench.add_warm("m2")
    first, _ = await place(bench, placed("gang", gpus(machine.machine_id, 0), gpus("m2", 0)))
    await bench.machines.halt("m2", Halt("it burns"))
    await bench.passes(2)
    assert await standing(bench, machine.machine_id) == [LeaseState.EXPIRED]
    bench.clock.advance(first.expire_time - bench.clock.now())
    await bench.passes(2)
    assert await standing(bench, machine.machine_id) == []
    assert (await bench.machines.get(machine.machine_id)).occupied == (0,)


async def test_gangs_that_are_renewed_and_released_while_machines_end_wait_for_nobody_for_ever(bench: Bench) -> None:
    """On PostgreSQL, two transactions that lock the same rows in two orders would end in an error."""
    for machine_id in ("m1", "m2", "m3"):
        await bench.add_warm(machine_id, gpu_count=8)
    orders = (("m1", "m2", "m3"), ("m3", "m1", "m2"), ("m2", "m3", "m1"))
    gangs = [
        await place(bench, placed(f"job-{n}", *(gpus(machine_id, n) for machine_id in orders[n % 3]))) for n in range(8)
    ]
    halted = [bench.machines.halt("m2", Halt("it burns"))]
    renewed = [bench.leases.renew(lease.lease_id, MINUTE) for leases in gangs for lease in leases]
    released = [bench.leases.release(lease.lease_id, "done") for leases in gangs[::2] for lease in leases[::-1]]
    outcomes = await asyncio.gather(*renewed, *halted, *released, return_exceptions=True)
    failed = {type(outcome) for outcome in outcomes if isinstance(outcome, BaseException)}
    assert failed <= {LeaseEndedError}
    for n, leases in enumerate(gangs):
        states = [lease.state for lease in leases_of(leases, await everything_standing(bench))]
        assert states == ([] if n % 2 == 0 else [LeaseState.EXPIRED] * 2)


async def everything_standing(bench: Bench) -> list[Lease]:
    return [lease for machine in await present(bench) for lease in await bench.leases.standing_on(machine.machine_id)]


def leases_of(leases: Sequence[Lease], found: Sequence[Lease]) -> list[Lease]:
    ids = {lease.lease_id for lease in leases}
    return [lease for lease in found if lease.lease_id in ids]


@pytest.mark.parametrize("number", [0, 1, 7])
async def test_the_database_itself_refuses_each_gpu_of_several_that_is_taken(bench: Bench, number: int) -> None:
    """Even if the occupancy were wrong, the unique indexes would keep two jobs apart."""
    await bench.add_warm(gpu_count=8)
    await place(bench, placed("all", gpus("m1", *range(8))))
    async with bench.database.transaction() as connection:
        await connection.execute(update(machines).values(occupied="[0,0,0,0,0,0,0,0]"))
    with pytest.raises(IntegrityError):
        await place(bench, placed("other", gpus("m1", number)))
