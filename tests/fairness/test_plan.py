"""Plans of both policies, for any situation: what holds whatever the rules, and what operators expect of quotas."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.scheduler.fairness.plan import plan
from services.scheduler.fairness.queue_tree import ReclaimStrategy
from services.scheduler.fairness.settings import FairnessPolicy, Queues, QueueSettings, Share
from services.scheduler.fairness.situation import Candidate, Machine, Plan, Running, Situation
from vocabulary.limits import DEFAULT_QUEUE
from vocabulary.slots import EIGHTH_MILLI, free_slots, taken

NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)
GPU_TYPE = "MI300X"
BOTH = pytest.mark.parametrize("policy", list(FairnessPolicy))


def queue(name: str, parent: str = "", quota: float | None = None, limit: float | None = None) -> QueueSettings:
    share = Share(None if quota is None else int(quota * 1000), None, None if limit is None else int(limit * 1000))
    return QueueSettings(name, parent=parent, resources={"gpu": share})


def two_teams(policy: FairnessPolicy, strategy: ReclaimStrategy = ReclaimStrategy.CONSERVATIVE) -> Queues:
    top = QueueSettings("lab", resources={"gpu": Share(8000)}, policy=policy, reclaim_strategy=strategy)
    return Queues([top, queue("red", "lab", 4), queue("blue", "lab", 4)])


def running(count: int, of: str, ran: timedelta, machine: str = "m1") -> list[Running]:
    return [Running(f"{of}-running-{number}", of, machine, NOW - ran) for number in range(count)]


def waiting(count: int, of: str, first: int = 0) -> list[Candidate]:
    return [Candidate(f"{of}-{number}", of, NOW + timedelta(seconds=first + number)) for number in range(count)]


def test_a_queue_may_be_said_to_lend_more_than_the_machines_have_now() -> None:
    lends = {"gpu": Share(4000, lending_limit=2000)}
    queues = Queues(
        [QueueSettings("lab", policy=FairnessPolicy.KUEUE), QueueSettings("red", parent="lab", resources=lends)]
    )
    decided = plan(Situation(GPU_TYPE, queues, NOW, [Machine("m1", 1)], [], waiting(1, "red")))
    assert dict(decided.starts) == {"red-0": "m1"}


@BOTH
def test_where_one_run_may_not_be_stopped_another_gives_way_in_its_place(policy: FairnessPolicy) -> None:
    older = running(7, "red", timedelta(hours=2))
    kept = Running("reservation", "red", "m1", NOW - timedelta(hours=1), keeps=True)
    situation = Situation(GPU_TYPE, two_teams(policy), NOW, [Machine("m1", 8)], [*older, kept], waiting(1, "blue"))

    (stop,) = plan(situation).stops

    assert stop.job_id.startswith("red-running-")


def emptiest(rooms: Sequence[tuple[Machine, int]]) -> list[float]:
    return [float(free) for _, free in rooms]


def by_name(rooms: Sequence[tuple[Machine, int]]) -> list[float]:
    return [float(machine.machine_id[1:]) for machine, _ in rooms]


@st.composite
def situations(draw: st.DrawFn) -> Situation:
    def share() -> Share:
        eighths = st.one_of(st.none(), st.integers(0, 6).map(lambda gpus: gpus * 1000))
        quota, limit = draw(eighths), draw(eighths)
        if quota is not None and limit is not None:
            quota = min(quota, limit)
        return Share(quota, draw(st.sampled_from([None, 0, 500, 3000])), limit, draw(eighths), draw(eighths))

    policy = draw(st.sampled_from(FairnessPolicy))
    tops = [QueueSettings(f"top{number}", policy=policy) for number in range(draw(st.integers(0, 2)))]
    leaves = [
        QueueSettings(
            f"leaf{number}",
            parent=draw(st.sampled_from(["", *(top.name for top in tops)])),
            priority=draw(st.sampled_from([100, 200])),
            resources={"gpu": share()},
            reclaim_strategy=draw(st.sampled_from([None, *ReclaimStrategy])),
            policy=policy,
        )
        for number in range(draw(st.integers(0, 3)))
    ]
    queues = Queues([*tops, *leaves])
    machines = [Machine(f"m{number}", draw(st.sampled_from([1, 2, 4]))) for number in range(draw(st.integers(0, 3)))]
    names = sorted(queues.leaves)
    busy: list[Running] = []
    for machine in machines:
        occupied = (0,) * machine.gpus
        for number in range(draw(st.integers(0, machine.gpus + 1))):
            size = draw(st.sampled_from([8, 8, 8, 4, 2]))
            slots = free_slots(occupied, size)
            if not slots:
                continue
            occupied = taken(occupied, slots)
            start = NOW - timedelta(seconds=draw(st.sampled_from([5, 600])))
            name, of, stopping = f"{machine.machine_id}-{number}", draw(st.sampled_from(names)), draw(st.booleans())
            busy.append(Running(name, of, machine.machine_id, start, size, slots, stopping))
    jobs = [
        Candidate(
            f"job{number}",
            draw(st.sampled_from([*names, "gone"])),
            NOW + timedelta(seconds=number),
            draw(st.sampled_from([8, 8, 8, 16, 4, 1])),
            draw(st.sampled_from([None, None, frozenset({"m0"})])),
            scores=draw(st.sampled_from([None, emptiest, by_name])),
        )
        for number in range(draw(st.integers(0, 6)))
    ]
    return Situation(GPU_TYPE, queues, NOW, machines, busy, jobs, may_stop=draw(st.booleans()))


@given(situations())
def test_no_gpu_is_given_twice_and_jobs_go_where_they_may(situation: Situation) -> None:
    found = plan(situation)
    used = Counter({one.machine_id: 0 for one in situation.machines})
    for one in situation.running:
        used[one.machine_id] += one.eighths
    jobs = {one.job_id: one for one in situation.waiting}
    for job_id, machine_id in found.starts.items():
        used[machine_id] += jobs[job_id].eighths
        assert jobs[job_id].machines is None or machine_id in jobs[job_id].machines
    assert all(used[machine.machine_id] <= machine.gpus * 8 for machine in situation.machines)


@given(situations())
def test_nobody_gives_way_unless_the_winner_then_fits(situation: Situation) -> None:
    found = plan(situation)
    if not situation.may_stop:
        assert not found.stops
    by_id = {one.job_id: one for one in situation.running}
    jobs = {one.job_id: one for one in situation.waiting}
    room = {machine.machine_id: machine.gpus * 8 for machine in situation.machines}
    stopped = {stop.job_id for stop in found.stops}
    for one in situation.running:
        if one.job_id not in stopped and not one.stopping:
            room[one.machine_id] -= one.eighths
    for job_id, machine_id in found.starts.items():
        room[machine_id] -= jobs[job_id].eighths
    for stop in found.stops:
        assert not by_id[stop.job_id].stopping
        assert stop.winner in found.promises
        assert found.promises[stop.winner] == by_id[stop.job_id].machine_id
    for winner in {stop.winner for stop in found.stops}:
        room[found.promises[winner]] -= jobs[winner].eighths
    assert all(left >= 0 for left in room.values())


@given(situations())
def test_every_job_starts_or_waits_for_a_reason(situation: Situation) -> None:
    found = plan(situation)
    for one in situation.waiting:
        assert (one.job_id in found.starts) != bool(found.waiting.get(one.job_id))
    assert plan(situation) == found


@given(situations())
def test_no_start_brings_a_queue_above_its_limit(situation: Situation) -> None:
    before = used_by_queue(situation, Plan({}))
    after = used_by_queue(situation, plan(situation))
    for name in situation.queues.leaves:
        limit = situation.queues.share(name, GPU_TYPE).limit
        if limit is not None and after[name] > before[name]:
            assert after[name] <= limit


def used_by_queue(situation: Situation, found: Plan) -> Counter[str]:
    used: Counter[str] = Counter()
    starting = [one for one in situation.waiting if one.job_id in found.starts]
    for one in (*(one for one in situation.running if not one.stopping), *starting):
        for above in situation.queues.upwards(situation.queue_of(one)):
            used[above.name] += one.eighths * EIGHTH_MILLI
    return used


@BOTH
def test_a_team_borrows_what_the_other_does_not_use(policy: FairnessPolicy) -> None:
    found = plan(Situation(GPU_TYPE, two_teams(policy), NOW, [Machine("m1", 8)], [], waiting(10, "red")))

    assert sorted(found.starts) == [f"red-{number}" for number in range(8)]


@BOTH
def test_a_team_gets_its_quota_back_after_the_minimum_runtime(policy: FairnessPolicy) -> None:
    queues, machines = two_teams(policy), [Machine("m1", 8)]
    busy = running(8, "red", timedelta(seconds=61))

    found = plan(Situation(GPU_TYPE, queues, NOW, machines, busy, waiting(6, "blue")))
    protected = plan(
        Situation(GPU_TYPE, queues, NOW, machines, running(8, "red", timedelta(seconds=59)), waiting(6, "blue"))
    )

    assert len(found.stops) == 4
    assert set(found.promises) == {stop.winner for stop in found.stops} == {f"blue-{number}" for number in range(4)}
    assert not protected.stops


@BOTH
def test_an_aggressive_team_does_not_wait_for_the_minimum_runtime_within_its_quota(policy: FairnessPolicy) -> None:
    queues = two_teams(policy, ReclaimStrategy.AGGRESSIVE)
    busy = running(8, "red", timedelta(seconds=1))

    found = plan(Situation(GPU_TYPE, queues, NOW, [Machine("m1", 8)], busy, waiting(6, "blue")))

    assert len(found.stops) == 4


@BOTH
def test_what_was_taken_back_goes_to_the_one_that_it_was_taken_for(policy: FairnessPolicy) -> None:
    queues = two_teams(policy)
    busy = running(7, "red", timedelta(seconds=300))
    late = Candidate("red-late", "red", NOW - timedelta(hours=1))
    winner = Candidate("blue-0", "blue", NOW, promised="m1")

    found = plan(Situation(GPU_TYPE, queues, NOW, [Machine("m1", 8)], busy, [late, winner]))

    assert found.starts == {"blue-0": "m1"}


@BOTH
def test_nobody_gives_way_twice_for_the_same_job(policy: FairnessPolicy) -> None:
    queues = two_teams(policy)
    leaving = Running("red-leaving", "red", "m1", NOW - timedelta(seconds=300), 1, stopping=True, gives_way_to="blue-0")
    busy = [*running(7, "red", timedelta(seconds=300)), leaving]
    winner = Candidate("blue-0", "blue", NOW, promised="m1")

    found = plan(Situation(GPU_TYPE, queues, NOW, [Machine("m1", 8)], busy, [winner]))

    assert not found.stops
    assert found.promises == {"blue-0": "m1"}


@BOTH
def test_jobs_that_ask_for_it_are_spread_and_the_others_are_packed(policy: FairnessPolicy) -> None:
    queues = Queues([QueueSettings(DEFAULT_QUEUE, policy=policy)])
    machines = [Machine("m1", 4), Machine("m2", 4)]
    jobs = waiting(4, DEFAULT_QUEUE)
    spread = [replace(job, scores=emptiest) for job in jobs]
    packed = plan(Situation(GPU_TYPE, queues, NOW, machines, [], jobs)).starts
    found = plan(Situation(GPU_TYPE, queues, NOW, machines, [], spread)).starts
    assert Counter(packed.values()) == {"m1": 4}
    assert Counter(found.values()) == {"m1": 2, "m2": 2}


@BOTH
def test_a_score_chooses_among_machines_with_room_and_the_first_of_equal_ones_is_taken(policy: FairnessPolicy) -> None:
    queues = Queues([QueueSettings(DEFAULT_QUEUE, policy=policy)])
    machines = [Machine("full", 1), Machine("plain", 1), Machine("good", 1), Machine("twin", 1)]
    asked: list[tuple[str, int]] = []

    def scores(rooms: Sequence[tuple[Machine, int]]) -> list[float]:
        asked.extend((machine.machine_id, free) for machine, free in rooms)
        return [float(machine.machine_id in {"good", "twin", "full"}) for machine, _ in rooms]

    job = replace(waiting(1, DEFAULT_QUEUE)[0], scores=scores)
    busy = running(1, DEFAULT_QUEUE, timedelta(hours=1), "full")
    assert plan(Situation(GPU_TYPE, queues, NOW, machines, busy, [job])).starts == {job.job_id: "good"}
    assert asked == [("plain", 1), ("good", 1), ("twin", 1)]


@BOTH
def test_jobs_of_the_same_turn_go_in_the_order_of_their_queue_and_not_of_their_names(policy: FairnessPolicy) -> None:
    queues = Queues([QueueSettings(DEFAULT_QUEUE, policy=policy)])
    jobs = [Candidate(name, DEFAULT_QUEUE, NOW) for name in ("c", "a", "b")]
    assert plan(Situation(GPU_TYPE, queues, NOW, [Machine("m1", 1)], [], jobs)).starts == {"c": "m1"}
