from __future__ import annotations

from datetime import timedelta
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.scheduler.fairness.kueue.local_queues import LocalQueue, UsageDecay
from services.scheduler.fairness.kueue.waiting import Waiting
from tests.fairness.kueue_queues import NOW, a_workload

DECAY = UsageDecay(half_life=timedelta(minutes=10), sampling=timedelta(minutes=5))


def test_half_of_the_usage_is_forgotten_after_the_half_life() -> None:
    idle = LocalQueue("ann", NOW, consumed={"gpu": 8}).sampled({}, DECAY, NOW + timedelta(minutes=10))
    assert idle.consumed == {"gpu": pytest.approx(4)}
    busy = LocalQueue("bob", NOW).sampled({"gpu": 8}, DECAY, NOW + timedelta(minutes=10))
    assert busy.consumed == {"gpu": pytest.approx(4)}


@given(st.integers(0, 100), st.integers(0, 100), st.lists(st.integers(0, 10_000), max_size=5))
def test_usage_does_not_depend_on_how_often_it_is_sampled(before: int, in_use: int, pauses: list[int]) -> None:
    often, now = LocalQueue("ann", NOW, consumed={"gpu": before}), NOW
    for pause in pauses:
        now += timedelta(seconds=pause)
        often = often.sampled({"gpu": in_use}, DECAY, now)
    once = LocalQueue("ann", NOW, consumed={"gpu": before}).sampled({"gpu": in_use}, DECAY, now)
    assert often.consumed["gpu"] == pytest.approx(once.consumed["gpu"], abs=1e-6)


def test_an_entry_costs_what_a_sampling_interval_would_have_added() -> None:
    entered = LocalQueue("ann", NOW).entered({"gpu": 4}, DECAY)
    sampled = LocalQueue("ann", NOW).sampled({"gpu": 4}, DECAY, NOW + DECAY.sampling)
    assert entered.consumed == {"gpu": pytest.approx(sampled.consumed["gpu"])}


def test_without_a_half_life_nothing_is_remembered() -> None:
    decay = UsageDecay(timedelta(0), timedelta(minutes=5))
    local_queue = LocalQueue("ann", NOW, consumed={"gpu": 8})
    assert local_queue.entered({"gpu": 4}, decay).consumed == {"gpu": 8}
    assert local_queue.sampled({"gpu": 1}, decay, NOW).consumed == {"gpu": 1}


def test_usage_is_compared_by_weight() -> None:
    consumed = {"gpu": 6, "memory": 4}
    decay = UsageDecay(DECAY.half_life, DECAY.sampling, {"memory": 0.5})
    assert LocalQueue("ann", NOW, 2, consumed).weighted_usage(decay) == 4
    assert LocalQueue("bob", NOW, 0).weighted_usage(decay) == inf


def test_the_local_queue_that_used_least_goes_first_and_then_priority_and_age() -> None:
    ann = [a_workload("ann-1", "q", 1, priority=9, local_queue="ann")]
    bob = [a_workload(f"bob-{age}", "q", 1, age=age, local_queue="bob") for age in (1, 2)]
    bob.append(a_workload("bob-urgent", "q", 1, priority=1, local_queue="bob"))
    waiting, order = Waiting([*ann, *bob]), list[str]()
    while waiting:
        head = waiting.head({"ann": 1.0})
        order.append(head.name)
        waiting.remove(head)
    assert order == ["bob-urgent", "bob-2", "bob-1", "ann-1"]
    assert Waiting([*ann, *bob]).head({}).name == "ann-1"
