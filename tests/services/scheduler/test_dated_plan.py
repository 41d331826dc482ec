"""A policy in front of reservations that start later: who starts on GPUs that are kept, and who does not."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from services.scheduler.fairness.plan import plan
from services.scheduler.fairness.settings import FairnessPolicy, Queues, QueueSettings
from services.scheduler.fairness.situation import Candidate, Dated, Hold, Machine, Running, Situation
from tests.services.scheduler.jobs import START
from vocabulary.slots import Slot

MINUTE = timedelta(minutes=1)
POLICIES = pytest.mark.parametrize("policy", FairnessPolicy)


def kept(gpu: int, minutes: int, machine: str = "m") -> Dated:
    return Dated(f"res-{gpu}", "default", Hold(machine, START + minutes * MINUTE, (Slot(gpu, 0, 8),)))


def job(name: str, minutes: int | None, eighths: int = 8) -> Candidate:
    limit = None if minutes is None else minutes * MINUTE
    return Candidate(name, "default", START, eighths, time_limit=limit)


def situation(policy: FairnessPolicy, gpus: int, waiting: list[Candidate], *dated: Dated) -> Situation:
    queues = Queues([QueueSettings("default", policy=policy)])
    return Situation("MI300X", queues, START, [Machine("m", gpus)], [], waiting, dated=dated)


@POLICIES
def test_only_those_that_end_by_its_begin_start_on_what_is_kept(policy: FairnessPolicy) -> None:
    waiting = [job("endless", None), job("late", 11), job("in time", 10)]
    decided = plan(situation(policy, 1, waiting, kept(0, 10)))
    assert decided.starts == {"in time": "m"}


@POLICIES
def test_each_begin_counts_for_its_own_gpu(policy: FairnessPolicy) -> None:
    waiting = [job("hour", 60), job("half", 30), job("ten", 10), job("short", 5)]
    decided = plan(situation(policy, 3, waiting, kept(0, 10), kept(1, 30)))
    assert set(decided.starts) == {"hour", "half", "ten"}
    decided = plan(situation(policy, 2, waiting[:2], kept(0, 10), kept(1, 30)))
    assert set(decided.starts) == {"half"}


@POLICIES
def test_several_gpus_start_on_kept_and_other_ones_together(policy: FairnessPolicy) -> None:
    assert plan(situation(policy, 2, [job("two", 10, 16)], kept(0, 10))).starts == {"two": "m"}
    assert not plan(situation(policy, 2, [job("two", 11, 16)], kept(0, 10))).starts


@POLICIES
def test_what_is_kept_for_long_after_all_ends_keeps_nobody_back(policy: FairnessPolicy) -> None:
    waiting = [job("hour", 60), job("other", 60)]
    far = situation(policy, 2, waiting, kept(0, 60), kept(1, 90))
    assert set(plan(far).starts) == {"hour", "other"}
    assert plan(far).waiting == plan(replace(far, dated=())).waiting


@POLICIES
def test_the_free_part_of_a_gpu_that_is_kept_is_kept_too(policy: FairnessPolicy) -> None:
    part = Running("run", "default", "m", START, 4, (Slot(0, 0, 4),), end_time=START + 5 * MINUTE)
    late = replace(situation(policy, 1, [job("late", 20, 4)], kept(0, 10)), running=[part])
    assert not plan(late).starts
    in_time = replace(late, waiting=[job("in time", 10, 4)])
    assert plan(in_time).starts == {"in time": "m"}


@POLICIES
def test_a_range_does_not_grow_into_what_is_kept(policy: FairnessPolicy) -> None:
    wide = replace(job("range", 60), most_eighths=16)
    free = replace(situation(policy, 2, [wide]), further_eighths={"default": 8})
    assert plan(free).sizes == {"range": 16}
    narrow = plan(replace(free, dated=(kept(0, 10),)))
    assert (narrow.starts, narrow.sizes) == ({"range": "m"}, {})


def test_nobody_is_stopped_on_a_gpu_that_is_kept() -> None:
    queues = Queues([QueueSettings("default"), QueueSettings("red")])
    run = Running("run", "red", "m", START - timedelta(hours=1), 8, (Slot(0, 0, 8),), end_time=START + 5 * MINUTE)
    other = replace(run, job_id="other", slots=(Slot(1, 0, 8),))
    full = Situation("MI300X", queues, START, [Machine("m", 2)], [run, other], [job("late", 60)])
    assert [stop.job_id for stop in plan(full).stops] != []
    kept_both = replace(full, dated=(kept(0, 10), kept(1, 10)))
    assert not plan(kept_both).stops
