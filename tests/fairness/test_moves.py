"""Runs that are moved so that a larger job fits, and runs of a range that are shrunk."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.scheduler.fairness.plan import plan
from services.scheduler.fairness.queue_tree import ReclaimStrategy
from services.scheduler.fairness.settings import FairnessPolicy, Queues, QueueSettings, Share
from services.scheduler.fairness.situation import Candidate, Machine, Plan, Running, Situation, Stop, StopKind
from vocabulary.slots import EIGHTHS_PER_GPU, WHOLE_GPU

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def tree(strategy: ReclaimStrategy = ReclaimStrategy.CONSERVATIVE, **quotas: float) -> Queues:
    """A queue `lab`, and below it one of each name, with so many GPUs."""
    shares = {name: {"gpu": Share(int(quota * 1000))} for name, quota in quotas.items()}
    below = [QueueSettings(name, parent="lab", resources=share) for name, share in shares.items()]
    return Queues([QueueSettings("lab", reclaim_strategy=strategy), *below])


TWO_TEAMS = tree(red=4, blue=4)


def runs(
    name: str,
    machine: str,
    gpus: int = 1,
    queue: str = "red",
    least: int = 0,
    seconds: int = 600,
    *,
    movable: bool = True,
) -> Running:
    return Running(
        name,
        queue,
        machine,
        NOW - timedelta(seconds=seconds),
        gpus * EIGHTHS_PER_GPU,
        least_eighths=least * EIGHTHS_PER_GPU,
        movable=movable,
    )


def asks(name: str, gpus: int = 1, queue: str = "red", most: int = 0) -> Candidate:
    return Candidate(name, queue, NOW, gpus * EIGHTHS_PER_GPU, most_eighths=most * EIGHTHS_PER_GPU)


def decided(
    machines: list[int], running: list[Running], *waiting: Candidate, queues: Queues = TWO_TEAMS, may_stop: bool = True
) -> Plan:
    listed = [Machine(f"m{number}", gpus) for number, gpus in enumerate(machines)]
    return plan(Situation("MI300X", queues, NOW, listed, running, waiting, may_stop=may_stop))


def kinds(found: Plan) -> dict[str, tuple[StopKind, str, int, str]]:
    return {one.job_id: (one.kind, one.machine_id, one.eighths // EIGHTHS_PER_GPU, one.winner) for one in found.stops}


def test_a_run_moves_to_another_machine_if_a_larger_job_then_fits() -> None:
    found = decided([2, 2], [runs("one", "m0"), runs("two", "m1")], asks("large", 2))
    (moved,) = found.stops
    assert moved.kind is StopKind.MOVES
    assert (moved.winner, moved.eighths) == ("large", EIGHTHS_PER_GPU)
    assert {moved.machine_id, found.promises["large"]} == {"m0", "m1"}
    assert found.promises["large"] == {"one": "m0", "two": "m1"}[moved.job_id]


def test_runs_move_for_a_large_job_though_small_ones_would_take_what_is_free() -> None:
    small = [asks(f"small{number}") for number in range(3)]
    running = [runs("one", "m0"), runs("two", "m1")]

    found = decided([2, 2], running, asks("large", 2), *small)

    assert [stop.kind for stop in found.stops] == [StopKind.MOVES]
    assert found.promises.keys() == {"large"}
    assert not found.starts
    assert not decided([2, 2], [replace(one, movable=False) for one in running], asks("large", 2), *small).stops


def test_a_range_that_starts_does_not_grow_into_the_place_of_a_run_that_moves_or_of_the_one_that_it_moves_for() -> None:
    fixed = runs("fixed", "m0", 2, queue="blue", movable=False)
    running, range_ = [runs("one", "m1", queue="blue"), fixed], asks("range", queue="blue", most=8)
    queues = tree(red=8, blue=8)
    found = decided([4, 4], running, asks("large", 4), range_, queues=queues)
    assert kinds(found) == {"one": (StopKind.MOVES, "m0", 1, "large")}
    assert found.starts == {"range": "m0"}
    assert not found.sizes
    assert decided([4, 4], running, range_, queues=queues).sizes == {"range": 2 * EIGHTHS_PER_GPU}


def test_a_run_that_moved_gets_its_place_though_the_pool_still_counts_the_one_that_it_left() -> None:
    """The job that it moved for would else get a hold on the machine with its place, and it would go back."""
    machines = [Machine("old", 4, (WHOLE_GPU, 0, 0, 0)), Machine("new", 4)]
    held = replace(runs("held", "new"), end_time=NOW + timedelta(hours=1))
    moved, large = replace(asks("moved"), promised="new"), replace(asks("large", 4), promised="old")
    found = plan(Situation("MI300X", TWO_TEAMS, NOW, machines, [held], [moved, large]))
    assert found.starts == {"moved": "new"}
    assert not found.holds


@pytest.mark.parametrize("policy", FairnessPolicy)
def test_nobody_starts_on_what_is_free_beside_a_run_that_has_just_given_way(policy: FairnessPolicy) -> None:
    """The pool still counts the run, so that the winner does not fit yet."""
    shares = {"gpu": Share(8000)}
    queues = Queues([QueueSettings("lab", policy=policy), QueueSettings("red", parent="lab", resources=shares)])
    winner, behind = replace(asks("winner", 4), promised="old"), [asks("one"), asks("two")]

    def starts(*masks: int) -> dict[str, str]:
        machines = [Machine("old", 4, masks), Machine("new", 1)]
        return dict(plan(Situation("MI300X", queues, NOW, machines, [], [winner, *behind])).starts)

    assert list(starts(WHOLE_GPU, 0, 0, 0).values()) == ["new"]
    assert starts(0, 0, 0, 0) == {"winner": "old", "one": "new"}


def test_nobody_is_moved_that_did_not_agree_or_has_no_other_place_or_for_a_job_that_is_no_larger() -> None:
    large, stay = asks("large", 2), [runs("one", "m0", movable=False), runs("two", "m1", movable=False)]
    assert not decided([2, 2], stay, large).stops
    assert kinds(decided([2, 2], [runs("one", "m0"), stay[1]], large)).keys() == {"one"}
    full = [runs("one", "m0"), runs("two", "m1", 2)]
    assert not decided([2, 2], full, large).stops, "there is one free GPU"
    keeps = [replace(one, keeps=True) for one in (runs("one", "m0"), runs("two", "m1"))]
    assert not decided([2, 2], keeps, large).stops
    assert not decided([2, 2], [runs("one", "m0"), runs("two", "m1")], large, may_stop=False).stops
    only_there = replace(asks("equal"), machines=frozenset({"m0"}))
    assert not decided([1, 1], [runs("one", "m0")], only_there).stops


def test_no_run_moves_to_a_place_that_is_free_only_when_another_run_has_stopped() -> None:
    moving, only_there = [runs("one", "m0"), runs("two", "m0")], replace(asks("large", 2), machines=frozenset({"m0"}))
    leaving = replace(runs("leaving", "m1", 2), stopping=True, gives_way_to="somebody")
    assert not decided([2, 2], [*moving, leaving], only_there).stops
    assert kinds(decided([2, 2], moving, only_there)).keys() == {"one", "two"}


def test_a_run_moves_only_to_a_machine_that_it_may_run_on() -> None:
    large = asks("large", 2, queue="blue")
    for machines, moves in ((frozenset({"m0"}), False), (frozenset({"m0", "m1"}), True)):
        small = replace(runs("small", "m0"), machines=machines)
        found = decided([2, 2], [small, runs("fixed", "m1", movable=False)], large)
        assert bool(found.stops) == moves


def test_a_range_above_its_least_is_not_moved_as_its_gpus_could_get_places_on_two_machines() -> None:
    """Three of eight GPUs are free, a fourth would be if one of the range went to the other machine."""
    fixed, large = runs("fixed", "m0", 3, movable=False), asks("large", 4, queue="blue")
    assert not decided([8, 2], [runs("wide", "m0", 2, least=1), fixed], large).stops
    found = decided([8, 2], [runs("wide", "m0", 2, least=2), fixed], large)
    assert kinds(found) == {"wide": (StopKind.MOVES, "m1", 2, "large")}


def test_a_range_is_shrunk_and_keeps_what_the_other_queue_does_not_need() -> None:
    running = [runs("wide", "m0", 4, least=1, movable=False)]
    found = decided([4], running, asks("small", queue="blue"), queues=tree(red=2, blue=2))
    assert kinds(found) == {"wide": (StopKind.SHRINKS, "m0", 2, "small")}
    assert found.promises == {"small": "m0"}


def test_a_range_is_shrunk_before_a_run_of_a_fixed_size_is_stopped() -> None:
    running = [runs("fixed", "m0", 2, movable=False), runs("wide", "m1", 2, least=1, movable=False)]
    found = decided([2, 2], running, asks("small", queue="blue"), queues=tree(red=2, blue=2))
    assert kinds(found) == {"wide": (StopKind.SHRINKS, "m1", 1, "small")}


def test_a_range_is_stopped_whole_if_its_least_is_more_than_what_is_left() -> None:
    running = [runs("wide", "m0", 4, least=4, movable=False)]
    found = decided([4], running, asks("half", 2, queue="blue"), queues=tree(red=0, blue=4))
    assert kinds(found) == {"wide": (StopKind.GIVES_WAY, "", 0, "half")}
    at_its_least = [runs("wide", "m0", 2, least=2, movable=False)]
    found = decided([2], at_its_least, asks("half", 2, queue="blue"), queues=tree(red=0, blue=2))
    assert kinds(found) == {"wide": (StopKind.GIVES_WAY, "", 0, "half")}


def test_a_range_that_has_just_started_keeps_all_for_its_minimum_runtime() -> None:
    """KAI takes the tasks that a job can spare at any time; ours would lose what it has done."""
    running = [runs("wide", "m0", 4, least=1, seconds=59, movable=False)]
    assert not decided([4], running, asks("small", queue="blue"), queues=tree(red=2, blue=2)).stops


def test_a_queue_is_not_taken_below_its_quota_by_shrinking_either() -> None:
    running = [runs("wide", "m0", 4, least=1, movable=False)]
    assert not decided([4], running, asks("small", queue="blue"), queues=tree(red=4, blue=0)).stops


# Small machines with many small runs, most of which may be moved: that is where moves help.
held = st.tuples(
    st.sampled_from([1, 1, 1, 2, 4]),
    st.integers(0, 2),
    st.integers(0, 2),
    st.sampled_from([True, True, False]),
    st.sampled_from(["red", "blue"]),
)
wanted = st.tuples(st.sampled_from([2, 4, 2, 1]), st.sampled_from(["red", "blue"]))


@settings(max_examples=300)
@given(
    st.lists(st.integers(1, 4), min_size=2, max_size=3),
    st.lists(held, min_size=1, max_size=6),
    st.lists(wanted, min_size=1, max_size=3),
    st.integers(0, 8),
    st.sampled_from(list(ReclaimStrategy)),
)
def test_all_that_move_shrink_and_win_have_room_together_once_those_runs_have_stopped(
    machines: list[int],
    holding: list[tuple[int, int, int, bool, str]],
    asked: list[tuple[int, str]],
    quota: int,
    strategy: ReclaimStrategy,
) -> None:
    free = {f"m{number}": gpus for number, gpus in enumerate(machines)}
    running: list[Running] = []
    for number, (gpus, machine, halvings, movable, queue) in enumerate(holding):
        name = f"m{machine % len(machines)}"
        if free[name] >= gpus:
            free[name] -= gpus
            least = gpus >> halvings if halvings and gpus >> halvings else 0
            running.append(runs(f"run-{number}", name, gpus, queue, least, movable=movable))
    waiting = [asks(f"job-{number}", gpus, queue) for number, (gpus, queue) in enumerate(asked)]

    found = decided(machines, running, *waiting, queues=tree(strategy, red=quota, blue=2))

    by_id, sizes = {one.job_id: one for one in running}, {one.job_id: one.eighths for one in waiting}
    stopped = {one.job_id for one in found.stops}
    later: Counter[str] = Counter()
    for one in running:
        later[one.machine_id] += one.eighths if one.job_id not in stopped else 0
    for job_id, machine_id in {**found.starts, **found.promises}.items():
        later[machine_id] += sizes[job_id]
    for stop in found.stops:
        assert stop.winner in found.promises
        later[stop.machine_id] += stop.eighths
        _check(stop, by_id[stop.job_id], sizes[stop.winner], free)
    assert all(later[f"m{number}"] <= gpus * EIGHTHS_PER_GPU for number, gpus in enumerate(machines))


def _check(stop: Stop, one: Running, wanted: int, free: dict[str, int]) -> None:
    if stop.kind is StopKind.GIVES_WAY:
        assert not stop.eighths
    elif stop.kind is StopKind.MOVES:
        assert one.movable
        assert stop.machine_id != one.machine_id
        assert stop.eighths == one.eighths < wanted
        assert free[stop.machine_id] * EIGHTHS_PER_GPU >= stop.eighths
    else:
        assert stop.machine_id == one.machine_id
        assert 0 < one.least_eighths <= stop.eighths < one.eighths
