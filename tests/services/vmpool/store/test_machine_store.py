from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy.exc import IntegrityError

from services.vmpool.errors import MachineNotFoundError, PoolLimitError, StaleMachineError
from services.vmpool.fault import Fault
from services.vmpool.machines.machine import Halt, Inventory, MachineState
from services.vmpool.machines.offer import Source
from services.vmpool.store.event_log import EventLog
from services.vmpool.store.machine_row import machine_from_json, machine_to_json
from tests.services.vmpool.conftest import START, Bench, a_machine, a_request


async def test_a_machine_comes_back_as_it_was_written(bench: Bench) -> None:
    inventory = Inventory("cpu", "Some CPU", "x86_64", 1024, 8, "bubblewrap")
    machine = a_machine().provision(START).start(START, "127.0.0.1:1").join(START, inventory)
    machine = replace(machine, idle=timedelta(seconds=3), occupied=(3, 255), gpu_count=2)
    await bench.machines.add(machine, "test")
    assert await bench.machines.get("m1") == machine
    ended = replace(machine.drain(START, "idle").stop(START), machine_id="m2")
    await bench.machines.add(ended, "test")
    assert await bench.machines.get("m2") == ended


async def test_of_racing_machines_no_more_are_added_than_there_may_be(bench: Bench) -> None:
    """The limit holds whoever adds machines: the sizer, people, or a pool beside this one that has not ended yet."""
    outcomes = await asyncio.gather(
        *(bench.machines.add(a_machine(machine_id=f"m{number}"), "test", most=2) for number in range(5)),
        return_exceptions=True,
    )
    assert sum(isinstance(outcome, PoolLimitError) for outcome in outcomes) == 3
    assert len(await bench.machines.unreleased()) == 2
    assert await EventLog(bench.database).last_seq() == 2


async def test_of_racing_changes_one_wins(bench: Bench) -> None:
    machine = await bench.machines.add(a_machine(), "test")
    attempts = [machine.provision(START), machine.fail(START, "no", Fault.PROVIDER), machine.drain(START, "no")]
    outcomes = await asyncio.gather(
        *(bench.machines.change(machine, after) for after in attempts), return_exceptions=True
    )
    assert sum(isinstance(outcome, StaleMachineError) for outcome in outcomes) == 2


async def test_a_change_that_was_decided_on_an_older_revision_is_refused(bench: Bench) -> None:
    machine = await bench.machines.add(a_machine(), "test")
    await bench.machines.change(machine, machine.progress("stage one"))
    with pytest.raises(StaleMachineError):
        await bench.machines.change(machine, machine.progress("stage two"))


async def test_a_machine_that_is_stopped_ends_its_leases_in_the_same_step(bench: Bench) -> None:
    machine = await bench.warm_machine()
    taken = await bench.leases.acquire(a_request(eighths=4))
    assert taken
    halted = await bench.machines.halt(machine.machine_id, Halt("it burns"))
    assert (halted.state, halted.occupied) == (MachineState.DRAINING, (0,))
    assert await bench.leases.standing_on(machine.machine_id) == []
    await bench.leases.release(taken[0].lease_id, "too late")
    assert await bench.machines.halt(machine.machine_id, Halt("again")) == halted
    assert await bench.machines.get(machine.machine_id) == halted


async def test_a_machine_that_drains_is_stopped_without_waiting_for_its_leases(bench: Bench) -> None:
    machine = await bench.warm_machine()
    await bench.leases.acquire(a_request(eighths=4))
    await bench.machines.drain(machine.machine_id, "asked")
    halted = await bench.machines.halt(machine.machine_id, Halt("now"))
    assert (halted.state, halted.reason, halted.occupied) == (MachineState.DRAINING, "now", (0,))
    await bench.passes()
    assert await bench.state_of(machine.machine_id) is MachineState.STOPPED


async def test_a_request_has_one_machine_whoever_writes_it(bench: Bench) -> None:
    machine = await bench.machines.add(a_machine(request_id="r1"), "test")
    with pytest.raises(IntegrityError):
        await bench.machines.add(a_machine(machine_id="m2", request_id="r1"), "test")
    for number in range(2):
        await bench.machines.add(a_machine(machine_id=f"other{number}"), "test")
    assert await bench.machines.of_request("r1") == machine
    assert await bench.machines.of_request("r2") is None


async def test_events_are_numbered_without_gaps_whatever_is_refused(bench: Bench) -> None:
    added = [await bench.machines.add(a_machine(machine_id=f"m{number}"), "test") for number in range(3)]
    changes = [bench.machines.change(machine, machine.provision(START)) for machine in added for _ in range(2)]
    await asyncio.gather(*changes, return_exceptions=True)
    events = await EventLog(bench.database).after(0)
    assert [event.seq for event in events] == list(range(1, 7))
    assert [event.machine.state for event in events].count(MachineState.PROVISIONING) == 3


async def test_draining_twice_changes_nothing(bench: Bench) -> None:
    await bench.machines.add(a_machine(), "test")
    first = await bench.machines.drain("m1", "asked")
    assert await bench.machines.drain("m1", "asked again") == first
    with pytest.raises(MachineNotFoundError):
        await bench.machines.drain("m9", "asked")


async def test_failures_count_from_the_last_success(bench: Bench) -> None:
    for number, fails in enumerate([True, False, True, True]):
        now = START + timedelta(minutes=number)
        machine = a_machine(machine_id=f"m{number}", create_time=now).provision(now)
        machine = (
            machine.fail(now, f"reason {number}", Fault.PROVIDER)
            if fails
            else machine.start(now, "127.0.0.1:1").join(now, Inventory())
        )
        await bench.machines.add(machine, "test")
    failures = (await bench.machines.failures())[Source("scripted", "", "MI300X")]
    assert (failures.count, failures.reason, failures.last_time) == (2, "reason 3", START + timedelta(minutes=3))


async def test_machines_that_are_over_are_listed_last_or_not_at_all(bench: Bench) -> None:
    for number, ended in enumerate([False, True, False]):
        machine = a_machine(machine_id=f"m{number}", create_time=START + timedelta(minutes=number))
        await bench.machines.add(machine.fail(START, "no", Fault.PROVIDER) if ended else machine, "test")
    everything = await bench.machines.all(include_ended=True)
    present = await bench.machines.all(include_ended=False)
    assert [machine.machine_id for machine in everything] == ["m2", "m0", "m1"]
    assert [machine.machine_id for machine in present] == ["m2", "m0"]


def test_snapshots_keep_everything_but_the_token() -> None:
    machine = a_machine(
        ready_time=START,
        last_used_time=START + timedelta(microseconds=1),
        own_job_id="job-1",
        keep_idle=timedelta(seconds=7),
    )
    assert "secret" not in machine_to_json(machine)
    assert machine_from_json(machine_to_json(machine)) == replace(machine, token="")
