from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.vmpool.errors import InvalidFieldError
from services.vmpool.machine import MachineState
from services.vmpool.sizing import (
    LONGEST_BACKOFF,
    Demand,
    Failures,
    Limits,
    Plan,
    Pool,
    check_demand,
    machines_wanted,
)
from tests.services.vmpool.conftest import START, a_machine

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from services.vmpool.machine import Machine

LIMITS = Limits(max_machines=3, idle_timeout=timedelta(minutes=10))
GPU_TYPES = ("MI300X", "MI210")


def plan(
    demands: Sequence[Demand] = (),
    machines: Sequence[Machine] = (),
    limits: Limits = LIMITS,
    now: datetime = START,
    failures: dict[str, Failures] | None = None,
) -> Plan:
    return machines_wanted(demands, Pool(machines, failures or {}), limits, now)


def warm(machine_id: str = "m1", gpu_type: str = "MI300X", used: datetime = START) -> Machine:
    return a_machine(machine_id=machine_id, gpu_type=gpu_type, state=MachineState.WARM, last_used_time=used)


def test_an_empty_pool_without_demand_stays_empty() -> None:
    assert plan() == Plan()


def test_whole_gpus_need_a_machine_each_up_to_the_limit() -> None:
    assert plan([Demand("MI300X", 8, 2)]).start == ("MI300X", "MI300X")
    beyond = plan([Demand("MI300X", 8, 1_000_000)])
    assert beyond.start == ("MI300X",) * 3
    assert "limit of 3" in beyond.blocked_reason


def test_fractions_share_a_machine() -> None:
    assert plan([Demand("MI300X", 1, 5), Demand("MI300X", 2, 1)]).start == ("MI300X",)


@pytest.mark.parametrize("state", [MachineState.REQUESTED, MachineState.PROVISIONING, MachineState.STARTING])
def test_a_machine_on_its_way_counts(state: MachineState) -> None:
    assert plan([Demand("MI300X", 8, 1)], [a_machine(state=state)]).start == ()


def test_only_slots_that_really_fit_count() -> None:
    fragmented = a_machine(state=MachineState.BUSY, occupied=(0b00010001,))
    assert plan([Demand("MI300X", 4, 1)], [fragmented]).start == ("MI300X",)
    assert plan([Demand("MI300X", 2, 2)], [fragmented]).start == ()


def test_draining_and_lost_machines_take_room_and_serve_nobody() -> None:
    leaving = [a_machine(machine_id=state, state=state) for state in (MachineState.DRAINING, MachineState.LOST)]
    assert plan([Demand("MI300X", 8, 3)], leaving).start == ("MI300X",)


def test_an_idle_machine_is_released_after_the_timeout() -> None:
    assert plan(machines=[warm()], now=START + timedelta(minutes=10)).release == ("m1",)
    assert plan(machines=[warm()], now=START + timedelta(minutes=9)).release == ()


def test_an_idle_machine_that_is_waited_for_stays() -> None:
    assert plan([Demand("MI300X", 8, 1)], [warm()], now=START + timedelta(hours=1)) == Plan()


def test_busy_machines_are_never_released() -> None:
    busy = replace(warm(), state=MachineState.BUSY, occupied=(255,))
    assert plan([Demand("MI210", 8, 9)], [busy], now=START + timedelta(days=1)).release == ()


def test_at_the_limit_the_longest_idle_machine_of_another_type_gives_way() -> None:
    limits = replace(LIMITS, max_machines=2)
    machines = [warm("newer", used=START), warm("older", used=START - timedelta(seconds=1))]
    made_room = plan([Demand("MI210", 8, 1)], machines, limits)
    assert (made_room.start, made_room.release) == ((), ("older",))


def test_failed_starts_back_off_and_tell_the_reason() -> None:
    failures = {"MI300X": Failures(2, START, "no capacity")}
    waiting = plan([Demand("MI300X", 8, 1), Demand("MI210", 8, 1)], failures=failures, now=START + timedelta(seconds=3))
    assert waiting.start == ("MI210",)
    assert "no capacity" in waiting.blocked_reason
    assert plan([Demand("MI300X", 8, 1)], failures=failures, now=START + timedelta(seconds=4)).start == ("MI300X",)


def test_back_off_has_an_end() -> None:
    assert Failures(1000, START, "").retry_time == START + LONGEST_BACKOFF


demands = st.lists(st.builds(Demand, st.sampled_from(GPU_TYPES), st.sampled_from((1, 2, 4, 8)), st.integers(0, 50)))
machines = st.lists(
    st.builds(
        a_machine,
        machine_id=st.uuids().map(str),
        gpu_type=st.sampled_from(GPU_TYPES),
        state=st.sampled_from(MachineState),
        occupied=st.tuples(st.integers(0, 255)),
    ),
    max_size=5,
)


@given(demands=demands, machines=machines, limit=st.integers(0, 6), minutes=st.integers(0, 30))
def test_a_plan_never_exceeds_the_limit_and_releases_only_idle_machines(
    demands: list[Demand], machines: list[Machine], limit: int, minutes: int
) -> None:
    limits = replace(LIMITS, max_machines=limit)
    made = plan(demands, machines, limits, START + timedelta(minutes=minutes))
    assert len(made.start) <= max(0, limit - len(machines))
    warm_ids = {machine.machine_id for machine in machines if machine.state is MachineState.WARM}
    assert set(made.release) <= warm_ids
    assert set(made.start) <= {demand.gpu_type for demand in demands if demand.jobs}


@pytest.mark.parametrize(
    ("demand", "field"),
    [
        (Demand("H100", 8, 1), "MI300X, MI210"),
        (Demand("MI300X", 3, 1), "eighths"),
        (Demand("MI300X", 8, -1), "demands.jobs"),
    ],
)
def test_bad_demand_is_refused_by_field(demand: Demand, field: str) -> None:
    with pytest.raises(InvalidFieldError, match=field):
        check_demand(demand, GPU_TYPES)
