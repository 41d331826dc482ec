from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.vmpool.errors import IllegalMoveError
from services.vmpool.fault import Fault
from services.vmpool.machines.machine import LEGAL_MOVES, OVER, Inventory, Machine, MachineState
from tests.services.vmpool.conftest import START, a_machine
from vocabulary.slots import Slot

WHOLE = Slot(0, 0, 8)
HALF = Slot(0, 4, 4)
SECOND = timedelta(seconds=1)

MOVES: dict[str, Callable[[Machine, datetime], Machine]] = {
    "provision": lambda machine, now: machine.provision(now),
    "start": lambda machine, now: machine.start(now, "127.0.0.1:1"),
    "join": lambda machine, now: machine.join(now, Inventory()),
    "lease": lambda machine, now: machine.lease(now, [WHOLE]),
    "drain": lambda machine, now: machine.drain(now, "asked"),
    "stop": lambda machine, now: machine.stop(now),
    "fail": lambda machine, now: machine.fail(now, "broken", Fault.PROVIDER),
    "lose": lambda machine, now: machine.lose(now, "silent", Fault.UNREACHABLE),
}


@given(st.lists(st.sampled_from(sorted(MOVES)), max_size=12))
def test_any_order_of_moves_follows_the_table(names: list[str]) -> None:
    machine, now = a_machine(), START
    for name in names:
        now += SECOND
        try:
            moved = MOVES[name](machine, now)
        except (IllegalMoveError, ValueError):
            continue
        assert moved.state in LEGAL_MOVES[machine.state]
        assert (moved.end_time is not None) == (moved.state in OVER)
        assert moved.state_time == now
        machine = moved


def test_nothing_leaves_a_final_state() -> None:
    for state in OVER:
        assert LEGAL_MOVES[state] == frozenset()


def warm() -> Machine:
    return a_machine().provision(START).start(START, "127.0.0.1:1").join(START, Inventory())


ASKED = st.none() | st.integers(0, 900).map(lambda seconds: timedelta(seconds=seconds))


@given(st.lists(ASKED, min_size=1, max_size=8), ASKED)
def test_of_the_jobs_of_one_busy_time_the_longest_idle_time_counts(
    asked: list[timedelta | None], later: object
) -> None:
    machine = warm()
    for eighth, keep_idle in enumerate(asked):
        machine = machine.lease(START, [Slot(0, eighth, 1)], keep_idle)
    said = [one for one in asked if one is not None]
    assert machine.keep_idle == (max(said) if len(said) == len(asked) else None)
    for eighth in range(len(asked)):
        machine = machine.unlease(START, [Slot(0, eighth, 1)], "over")
    again = machine.lease(START, [HALF], later)  # pyright: ignore[reportArgumentType] - a duration or None
    assert again.keep_idle == later
    assert machine.keep(START).keep_idle is None


def test_leases_keep_a_machine_busy_until_the_last_one_ends() -> None:
    machine = warm().lease(START, [HALF]).lease(START, [Slot(0, 0, 1)])
    assert (machine.state, machine.fencing_token) == (MachineState.BUSY, 2)
    machine = machine.unlease(START, [HALF], "done")
    assert machine.state is MachineState.BUSY
    machine = machine.unlease(START, [Slot(0, 0, 1)], "done")
    assert (machine.state, machine.jobs_run, machine.occupied) == (MachineState.WARM, 2, (0,))


def test_a_draining_machine_takes_no_lease_and_keeps_draining() -> None:
    machine = warm().lease(START, [HALF]).drain(START, "asked")
    with pytest.raises(IllegalMoveError):
        machine.lease(START, [Slot(0, 0, 1)])
    assert machine.unlease(START, [HALF], "done").state is MachineState.DRAINING


def test_a_machine_that_is_over_holds_nothing() -> None:
    assert warm().lease(START, [WHOLE]).lose(START, "silent", Fault.UNREACHABLE).occupied == (0,)


def test_idle_time_is_time_spent_warm() -> None:
    machine = warm().lease(START + 3 * SECOND, [WHOLE]).unlease(START + 10 * SECOND, [WHOLE], "done")
    assert machine.idle_until(START + 15 * SECOND) == 8 * SECOND
    stopped = machine.drain(START + 15 * SECOND, "idle").stop(START + 99 * SECOND)
    assert stopped.idle_until(START + 1000 * SECOND) == 8 * SECOND


def test_cost_runs_from_asking_the_provider_to_the_release() -> None:
    machine = a_machine(create_time=START - SECOND)
    assert machine.cost_until(START + SECOND) == 0
    machine = machine.provision(START)
    assert machine.cost_until(START + 2 * SECOND) == 2_000_000
    failed = machine.fail(START + 3 * SECOND, "broken", Fault.PROVIDER)
    assert failed.cost_until(START + 5 * SECOND) == 5_000_000
    assert failed.release(START + 4 * SECOND).cost_until(START + 5 * SECOND) == 4_000_000


def test_moving_keeps_everything_that_it_does_not_name() -> None:
    machine = replace(warm(), gpu_type="MI210", price_micros_per_hour=7)
    drained = machine.drain(START, "asked")
    assert (drained.gpu_type, drained.price_micros_per_hour, drained.inventory) == ("MI210", 7, machine.inventory)
