from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.vmpool.machines.machine import Machine, MachineState
from services.vmpool.policy.offer_choice import OfferPolicy
from services.vmpool.policy.packing import Demand, Pace, PackingRules, Wish, machines_missing
from tests.services.vmpool.conftest import START, a_machine
from vocabulary.slots import EIGHTHS_PER_GPU, LEGAL_SIZES

SECOND = timedelta(seconds=1)
PACE = {"MI300X": Pace(30 * SECOND, 150 * SECOND)}
ONE_JOB = [Demand("MI300X", 8, 1)]


def missing(
    demands: Sequence[Demand],
    machines: Sequence[Machine] = (),
    paces: dict[str, Pace] | None = None,
    now: datetime = START,
) -> int:
    return len(machines_missing(demands, machines, paces or {}, PackingRules(), now).wishes)


def wishes(demands: Sequence[Demand], *gpu_counts: int) -> list[tuple[tuple[int, ...], int]]:
    """The missing machines if those with the first number of GPUs are usual, and the others may be ordered too.

    Of each, the numbers of GPUs of the jobs for it, and how many GPUs they take.
    """
    policy = OfferPolicy(gpu_count=gpu_counts[0], larger_gpu_counts=gpu_counts[1:])
    found = machines_missing(demands, [], {}, PackingRules(policy), START).wishes
    return [(wish.job_gpus, gpus_taken(wish)) for wish in found]


def gpus_taken(wish: Wish) -> int:
    return math.ceil(sum(wish.jobs) / EIGHTHS_PER_GPU)


def busy(**changes: object) -> Machine:
    return a_machine(**({"state": MachineState.BUSY, "occupied": (255,), "last_used_time": START} | changes))


def test_fractions_share_a_machine() -> None:
    assert missing([Demand("MI300X", 1, 5), Demand("MI300X", 2, 1)]) == 1


@pytest.mark.parametrize("state", [MachineState.REQUESTED, MachineState.PROVISIONING, MachineState.STARTING])
def test_a_machine_on_its_way_counts(state: MachineState) -> None:
    assert missing(ONE_JOB, [a_machine(state=state)]) == 0


def test_only_slots_that_really_fit_count() -> None:
    fragmented = busy(occupied=(0b00010001,))
    assert missing([Demand("MI300X", 4, 1)], [fragmented]) == 1
    assert missing([Demand("MI300X", 2, 2)], [fragmented]) == 0


def test_the_wanted_type_is_filled_before_a_fallback() -> None:
    machines = [a_machine(machine_id=name, gpu_type=name, state=MachineState.WARM) for name in ("MI210", "MI300X")]
    wanted = Demand("MI300X", 8, 1, ("MI210",))
    found = machines_missing([wanted], machines, {}, PackingRules(), START)
    assert (found.wishes, found.used) == ((), {"MI300X"})


def test_a_wish_names_the_fallbacks() -> None:
    found = machines_missing([Demand("MI300X", 8, 1, ("MI210",))], [], {}, PackingRules(), START)
    assert [wish.gpu_types for wish in found.wishes] == [("MI300X", "MI210")]


def test_while_nothing_is_measured_every_job_gets_a_machine() -> None:
    assert missing([Demand("MI300X", 8, 3)], [busy()]) == 3


def test_work_that_a_busy_machine_begins_before_a_new_one_is_ready_needs_none() -> None:
    assert missing([Demand("MI300X", 8, 5)], [busy()], PACE) == 0
    assert missing([Demand("MI300X", 8, 7)], [busy()], PACE) == 2


def test_a_machine_that_is_nearly_there_takes_work_in_turn_too() -> None:
    starting = a_machine(state=MachineState.STARTING, create_time=START)
    assert missing([Demand("MI300X", 8, 4)], [starting], PACE, START) == 3
    assert missing([Demand("MI300X", 8, 4)], [starting], PACE, START + 100 * SECOND) == 0


def test_nobody_waits_in_turn_behind_a_job_that_takes_unusually_long() -> None:
    assert missing(ONE_JOB, [busy()], PACE, START + 60 * SECOND) == 0
    assert missing(ONE_JOB, [busy()], PACE, START + 180 * SECOND) == 1


def test_no_more_is_reported_than_changes_anything() -> None:
    found = machines_missing([Demand("MI300X", 8, 10**9)], [], {}, PackingRules(most_wishes=3), START)
    assert len(found.wishes) == 3


@pytest.mark.parametrize("gpus", [2, 4, 8])
def test_several_gpus_are_those_of_one_machine(gpus: int) -> None:
    singles = [a_machine(machine_id=f"m{number}", state=MachineState.WARM) for number in range(gpus)]
    assert missing([Demand("MI300X", 8 * gpus, 1)], singles) == 1
    large = a_machine(gpu_count=8, occupied=(0,) * gpus + (1,) * (8 - gpus), state=MachineState.WARM)
    assert missing([Demand("MI300X", 8 * gpus, 1)], [large]) == 0
    assert missing([Demand("MI300X", 8 * gpus, 2)], [large]) == 1


def test_machines_that_are_too_small_take_no_turn_for_several_gpus() -> None:
    singles = [busy(machine_id=f"m{number}") for number in range(8)]
    assert [missing([Demand("MI300X", size, 1)], singles, PACE) for size in (8, 16, 64)] == [0, 1, 1]
    assert missing([Demand("MI300X", 64, 5)], [busy(gpu_count=8, occupied=(255,) * 8)], PACE) == 0


def test_a_wish_has_the_smallest_size_of_the_settings_that_is_enough() -> None:
    assert wishes([Demand("MI300X", 32, 2)], 1, 4, 8) == [((4,), 4)] * 2
    assert wishes([Demand("MI300X", 32, 2)], 1, 8) == [((4,), 8)]
    assert wishes([Demand("MI300X", 16, 4), Demand("MI300X", 8, 8)], 8) == [((2,), 8), ((1,), 8)]


def test_work_for_larger_machines_shares_them_with_work_of_its_size_alone() -> None:
    """The larger machine may not be had, and the usual one may."""
    demands = [Demand("MI300X", 32, 1), Demand("MI300X", 16, 1), Demand("MI300X", 4, 1)]
    assert wishes(demands, 1, 8) == [((4, 2), 6), ((1,), 1)]


demands = st.lists(
    st.builds(Demand, st.sampled_from(["MI300X", "MI210"]), st.sampled_from(LEGAL_SIZES), st.integers(0, 20)),
    max_size=4,
)


@given(demands=demands, job_seconds=st.integers(1, 600))
def test_knowing_the_pace_never_asks_for_more_machines(demands: list[Demand], job_seconds: int) -> None:
    paces = {"MI300X": Pace(job_seconds * SECOND, 150 * SECOND)}
    assert missing(demands, [busy()], paces) <= missing(demands, [busy()])


@given(demands=demands, gpu_count=st.sampled_from([1, 2, 8]), larger=st.sampled_from([(), (8,), (4, 8)]))
def test_the_wished_machines_hold_all_that_waits(
    demands: list[Demand], gpu_count: int, larger: tuple[int, ...]
) -> None:
    policy = OfferPolicy(gpu_count=gpu_count, larger_gpu_counts=larger)
    found = machines_missing(demands, [], {}, PackingRules(policy, most_wishes=1000), START)
    coming = [
        a_machine(
            machine_id=str(number),
            gpu_type=wish.gpu_types[0],
            state=MachineState.REQUESTED,
            gpu_count=policy.gpu_count_for(wish.job_gpus[0]),
            occupied=(0,) * policy.gpu_count_for(wish.job_gpus[0]),
        )
        for number, wish in enumerate(found.wishes)
    ]
    assert all(gpus_taken(wish) <= made.gpu_count for wish, made in zip(found.wishes, coming, strict=True))
    assert missing(demands, coming) == 0


def test_each_kind_of_work_is_reported_whatever_another_has_used_up() -> None:
    demands = [Demand("MI300X", 8, 5), Demand("MI210", 8, 2)]
    missing = machines_missing(demands, [], {}, PackingRules(most_wishes=2), START)
    assert [wish.gpu_types[0] for wish in missing.wishes] == ["MI300X", "MI300X", "MI210"]
