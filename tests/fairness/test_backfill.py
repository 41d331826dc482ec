"""A job that finds no room gets a date, and what is kept for it goes to those only that end by then."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.scheduler.fairness.backfill import first_room
from services.scheduler.fairness.plan import plan
from services.scheduler.fairness.settings import FairnessPolicy, Queues, QueueSettings, Share
from services.scheduler.fairness.situation import Candidate, Machine, Running, Situation
from vocabulary.limits import DEFAULT_QUEUE
from vocabulary.slots import Slot

NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
BOTH = pytest.mark.parametrize("policy", list(FairnessPolicy))
POLICIES = st.sampled_from(list(FairnessPolicy))


def queues(policy: FairnessPolicy) -> Queues:
    return Queues([QueueSettings(DEFAULT_QUEUE, policy=policy)])


def job(name: str, gpus: int, minutes: float | None, order: int = 0) -> Candidate:
    limit = None if minutes is None else minutes * MINUTE
    return Candidate(name, DEFAULT_QUEUE, NOW + timedelta(seconds=order), gpus * 8, time_limit=limit)


def run(name: str, gpu: int, minutes: float | None, machine: str = "m1") -> Running:
    end = None if minutes is None else NOW + minutes * MINUTE
    return Running(name, DEFAULT_QUEUE, machine, NOW, slots=(Slot(gpu, 0, 8),), end_time=end)


def situation(policy: FairnessPolicy, running: list[Running], *waiting: Candidate, gpus: int = 4) -> Situation:
    return Situation("MI300X", queues(policy), NOW, [Machine("m1", gpus)], running, waiting)


@BOTH
def test_only_jobs_that_end_in_time_start_before_a_large_one_that_finds_no_room(policy: FairnessPolicy) -> None:
    head, late, in_time = job("head", 4, 60), job("late", 1, 11, 1), job("in time", 1, 10, 2)
    found = plan(situation(policy, [run("r", 0, 10)], head, late, in_time))

    assert found.starts == {"in time": "m1"}
    assert (found.holds["head"].machine_id, found.holds["head"].time) == ("m1", NOW + 10 * MINUTE)
    assert "4 GPUs of m1 are kept for it, from 12:10:00 UTC" in found.waiting["head"]


@BOTH
def test_a_queue_gets_no_hold_for_what_it_may_not_have(policy: FairnessPolicy) -> None:
    share = Share(quota=2000, limit=2000)
    limited = Queues([QueueSettings(DEFAULT_QUEUE, policy=policy, resources={"gpu": share})])
    waiting = [job("head", 4, 60), job("late", 1, 99, 1)]
    found = plan(Situation("MI300X", limited, NOW, [Machine("m1", 4)], [run("r", 0, 10)], waiting))

    assert (found.starts, found.holds) == ({"late": "m1"}, {})


@BOTH
def test_without_a_date_nothing_is_kept(policy: FairnessPolicy) -> None:
    for endless in ([run("r", 0, None)], []):
        head = job("head", 4 if endless else 8, 60)
        assert plan(situation(policy, endless, head, job("late", 1, 99, 1))).starts == {"late": "m1"}


@BOTH
def test_a_job_without_a_time_limit_never_starts_on_what_is_kept(policy: FairnessPolicy) -> None:
    assert not plan(situation(policy, [run("r", 0, 10)], job("head", 4, 60), job("endless", 1, None, 1))).starts


@BOTH
def test_when_a_job_has_room_at_the_latest_is_known_also_if_nothing_starts(policy: FairnessPolicy) -> None:
    busy = [run("r0", 0, 5), run("r1", 1, 10), run("r2", 2, 7), run("r3", 3, 60)]
    full = situation(policy, busy, job("head", 2, 60))

    assert not plan(full).starts
    assert first_room(full, "head") == ("m1", NOW + 7 * MINUTE, (Slot(0, 0, 8), Slot(2, 0, 8)))
    assert first_room(full, "unknown") is None


@BOTH
def test_the_machine_that_has_room_first_is_kept_and_the_others_are_not(policy: FairnessPolicy) -> None:
    machines = [Machine("m1", 2), Machine("m2", 2)]
    busy = [run("r1", 0, 30, "m1"), run("r2", 0, 10, "m2")]
    head, late = job("head", 2, 60), job("late", 1, 99, 1)
    found = plan(Situation("MI300X", queues(policy), NOW, machines, busy, [head, late]))

    assert found.holds["head"].machine_id == "m2"
    assert found.starts == {"late": "m1"}


@st.composite
def busy_machines(draw: st.DrawFn) -> Situation:
    machines = [Machine(f"m{number}", draw(st.sampled_from([2, 4]))) for number in range(draw(st.integers(1, 2)))]
    busy = [
        run(f"{one.machine_id}-{gpu}", gpu, draw(st.sampled_from([1, 5, 9, None])), one.machine_id)
        for one in machines
        for gpu in range(one.gpus)
        if draw(st.booleans())
    ]
    waiting = [
        job(f"job{number}", draw(st.sampled_from([1, 1, 2, 4])), draw(st.sampled_from([1, 5, 9, 60, None])), number)
        for number in range(draw(st.integers(1, 6)))
    ]
    return Situation("MI300X", queues(draw(POLICIES)), NOW, machines, busy, waiting)


@given(busy_machines())
def test_at_the_date_of_a_hold_its_room_is_free(found_in: Situation) -> None:
    found = plan(found_in)
    jobs = {one.job_id: one for one in found_in.waiting}
    for hold in found.holds.values():
        machine = next(one for one in found_in.machines if one.machine_id == hold.machine_id)
        runs = [one for one in found_in.running if one.machine_id == hold.machine_id]
        left = sum(one.eighths for one in runs if one.end_time is None or one.end_time > hold.time)
        for name, machine_id in found.starts.items():
            limit = jobs[name].time_limit
            if machine_id == hold.machine_id and (limit is None or NOW + limit > hold.time):
                left += jobs[name].eighths
        kept = sum(
            sum(slot.eighths for slot in one.slots) for one in found.holds.values() if one.machine_id == hold.machine_id
        )
        assert left + kept <= machine.gpus * 8
        assert hold.time > NOW


@given(POLICIES, st.lists(st.integers(1, 9), min_size=40, max_size=40), st.integers(1, 4))
def test_a_large_job_starts_by_its_first_date_however_many_small_ones_come(
    policy: FairnessPolicy, minutes: list[int], arrivals: int
) -> None:
    """Each minute small jobs come; every run takes all the time that it may."""
    running: list[Running] = [run(f"first{gpu}", gpu, 3 + gpu) for gpu in range(3)]
    waiting, lengths, now = [job("large", 4, 60)], iter(minutes), NOW
    dates: list[datetime] = []
    while True:
        for number in range(arrivals):
            length = next(lengths, None)
            if length is not None:
                waiting.append(job(f"{now:%M}-{number}", 1, length, 1 + int((now - NOW).total_seconds())))
        found = plan(Situation("MI300X", queues(policy), now, [Machine("m1", 4)], running, waiting))
        if "large" in found.starts:
            break
        dates += [hold.time for hold in found.holds.values()]
        starts = [one for one in waiting if one.job_id in found.starts]
        free = sorted({0, 1, 2, 3} - {slot.gpu for one in running for slot in one.slots})
        for one, gpu in zip(starts, free, strict=False):
            assert one.time_limit
            running.append(replace(run(one.job_id, gpu, 0), start_time=now, end_time=now + one.time_limit))
        waiting = [one for one in waiting if one.job_id not in found.starts]
        now += MINUTE
        running = [one for one in running if one.end_time and one.end_time > now]
    assert dates == sorted(dates, reverse=True)
    assert not dates or now <= dates[0]
    assert Counter(one.machine_id for one in running) == {}
